internal import BackhaulPlatform
internal import CCurl
internal import Glibc

/// Ends an HTTP/2 connection whose frames keep libcurl busy. libcurl 7.88.1 continues to read while frames come that
/// bring no body (lib/http2.c, cf_h2_recv). This would block the loop's thread.
///
/// Unsafe: OpenSSL has a pointer to this object while its connections live. `MultiHandle` lives longer.
final class TurnGuard {
    private var sockets: [UnsafeRawPointer: ConnectionSocket] = [:]
    private var records = 0
    private var deadline: Int64?

    /// The number of TLS records between two checks of the clock.
    private static let step = 64
    /// The limit of processor time. Time in which the machine sleeps or runs other programs does not count.
    private static let longestNanoseconds: Int64 = 300_000_000

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    func watch(_ session: UnsafeRawPointer, _ socket: ConnectionSocket) {
        // The numbers of closed sockets may belong to other files now.
        sockets = sockets.filter { !$0.value.isClosed }
        sockets[session] = socket
    }

    /// Starts the measurement. Called before each call of libcurl.
    func begin() {
        records = 0
        deadline = nil
    }

    fileprivate func received(_ session: UnsafeRawPointer) {
        records += 1
        guard records % Self.step == 0 else { return }
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        let now = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        guard let deadline else {
            self.deadline = now + Self.longestNanoseconds
            return
        }
        guard now > deadline, let socket = sockets[session], !socket.isClosed, socket.descriptor.isOurs
        else { return }
        self.deadline = nil
        records = 0
        // Ends the connection immediately, and leaves the descriptor to libcurl (connect(2), AF_UNSPEC).
        var none = sockaddr()
        none.sa_family = sa_family_t(AF_UNSPEC)
        _ = connect(socket.descriptor.number, &none, socklen_t(MemoryLayout<sockaddr>.size))
    }
}

extension EasyHandle {
    /// Reports the TLS records of this connection to `turns`. Valid only in call-backs, while the request has its
    /// connection.
    func reportRecords(to turns: TurnGuard, _ socket: ConnectionSocket) {
        guard var functions = CurlLibrary.openSSL, let session = bhl_tls_session(handle) else { return }
        turns.watch(session, socket)
        bhl_tls_report_records(&functions, session, record, turns.pointer)
    }
}

/// Called by OpenSSL for each record. 256 is SSL3_RT_HEADER, which comes before each record.
private let record: bhl_tls_record = { isWritten, _, type, _, _, session, turns in
    guard isWritten == 0, type == 256, let session, let turns else { return }
    Unmanaged<TurnGuard>.fromOpaque(turns).takeUnretainedValue().received(session)
}
