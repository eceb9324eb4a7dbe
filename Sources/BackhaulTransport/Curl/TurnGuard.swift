internal import BackhaulPlatform
internal import CCurl
internal import Glibc

/// Ends a connection of HTTP/2 whose frames keep libcurl busy: libcurl 7.88.1 reads on for as long as frames come that
/// bring no byte of a body (lib/http2.c, cf_h2_recv), and nothing else on the loop's thread is done meanwhile.
///
/// Unsafe: OpenSSL holds a pointer to this for as long as its connections live, which `MultiHandle` outlives.
final class TurnGuard {
    private var sockets: [UnsafeRawPointer: ConnectionSocket] = [:]
    private var records = 0
    private var deadline: Int64?

    /// Records between two looks at the clock.
    private static let step = 64
    /// Of processor time, so that a machine that sleeps or is slow ends nothing.
    private static let longestNanoseconds: Int64 = 300_000_000

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    func watch(_ session: UnsafeRawPointer, _ socket: ConnectionSocket) {
        // Their numbers may be those of other files by now.
        sockets = sockets.filter { !$0.value.isClosed }
        sockets[session] = socket
    }

    /// libcurl is about to be called.
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
        // Ends the connection at once, and leaves the descriptor to libcurl (connect(2), AF_UNSPEC).
        var none = sockaddr()
        none.sa_family = sa_family_t(AF_UNSPEC)
        _ = connect(socket.descriptor.number, &none, socklen_t(MemoryLayout<sockaddr>.size))
    }
}

extension EasyHandle {
    /// Only in call-backs, while the request has its connection.
    func reportRecords(to turns: TurnGuard, _ socket: ConnectionSocket) {
        guard var functions = CurlLibrary.openSSL, let session = bhl_tls_session(handle) else { return }
        turns.watch(session, socket)
        bhl_tls_report_records(&functions, session, record, turns.pointer)
    }
}

/// 256: SSL3_RT_HEADER, which comes before each record.
private let record: bhl_tls_record = { isWritten, _, type, _, _, session, turns in
    guard isWritten == 0, type == 256, let session, let turns else { return }
    Unmanaged<TurnGuard>.fromOpaque(turns).takeUnretainedValue().received(session)
}
