internal import BackhaulPlatform
internal import CCurl
internal import Glibc

/// Needed by: libcurl before 8.7.0. Fixed in: 8.7.0 (commit 0dc036225b).
///
/// While frames without a body arrive over HTTP/2, libcurl continues to read in the same call (lib/http2.c,
/// cf_h2_recv). Such a call would block the thread of the event loop. So this object ends a connection on which a
/// server floods libcurl with frames.
///
/// Unsafe: OpenSSL has a pointer to this object while the watched connections live. The `MultiHandle` owns this object,
/// and lives longer than these connections.
final class FrameFloodGuard {
    private var sockets: [UnsafeRawPointer: ConnectionSocket] = [:]
    private var records = 0
    private var deadline: Int64?

    /// The number of TLS records between two checks of the clock.
    private static let step = 64
    /// The limit on this thread's processor time in one call of libcurl. Time in which the machine sleeps or runs other
    /// programs does not count.
    private static let maximumNanoseconds: Int64 = 300_000_000

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    func watch(_ session: UnsafeRawPointer, _ socket: ConnectionSocket) {
        // Closed sockets are removed, because their numbers may now belong to other files.
        sockets = sockets.filter { !$0.value.isClosed }
        sockets[session] = socket
    }

    /// Starts a measurement. This function must be called before each call that makes libcurl read.
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
            self.deadline = now + Self.maximumNanoseconds
            return
        }
        guard now > deadline, let socket = sockets[session], !socket.isClosed else { return }
        self.deadline = nil
        records = 0
        // A connect to AF_UNSPEC ends the connection immediately (connect(2)). libcurl keeps the descriptor, and closes
        // it later.
        var none = sockaddr()
        none.sa_family = sa_family_t(AF_UNSPEC)
        _ = connect(socket.number, &none, socklen_t(MemoryLayout<sockaddr>.size))
    }
}

extension EasyHandle {
    /// Reports the TLS records of this connection to `floodGuard`. May be called only in call-backs, while the request
    /// has a connection.
    func reportRecords(to floodGuard: FrameFloodGuard, _ socket: ConnectionSocket) {
        guard Workaround.frameFlood.isActive, var functions = CurlLibrary.openSSL,
            let session = bhl_tls_session(handle)
        else { return }
        floodGuard.watch(session, socket)
        bhl_tls_report_records(&functions, session, record, floodGuard.pointer)
    }
}

/// OpenSSL calls this function for each TLS record. The first call for a record has the type 256 (SSL3_RT_HEADER).
private let record: bhl_tls_record = { isWritten, _, type, _, _, session, floodGuard in
    guard isWritten == 0, type == 256, let session, let floodGuard else { return }
    Unmanaged<FrameFloodGuard>.fromOpaque(floodGuard).takeUnretainedValue().received(session)
}
