internal import BackhaulPlatform
internal import CCurl
internal import Glibc

/// Needed by: libcurl before 8.0.0. Fixed in: 8.0.0 (commit 7c5637b8b4).
///
/// libcurl considers a TLS connection alive while bytes are unread, even if the server has ended it (ossl_check_cxn).
/// close_notify is such an unread record. So the transport discards the unread bytes of an ended connection that no
/// request uses. Then libcurl closes the connection when it checks its idle connections.
extension ConnectionSocket {
    func discardCloseNotify() {
        guard Workaround.unreadCloseNotify.isActive else { return }
        // With MSG_TRUNC, a TCP socket discards the bytes without copying them (tcp(7)).
        let flags = Int32(MSG_TRUNC) | Int32(MSG_DONTWAIT)
        var rounds = 0
        while rounds < 64, recv(number, nil, 64 << 10, flags) > 0 { rounds += 1 }
    }
}
