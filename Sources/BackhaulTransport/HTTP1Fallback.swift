internal import BackhaulModel

/// The origins that get requests over HTTP/1.1, because an HTTP/2 connection ended before the end of a response was
/// marked.
///
/// A fallback ends early when a request over HTTP/1.1 gets no response. The server may support HTTP/2 only, or another
/// server may have the address. Otherwise it ends after an hour, because the server may have been repaired.
struct HTTP1Fallback {
    /// The end of each origin's fallback, in boot-clock milliseconds.
    private var ends: [Origin: Int64] = [:]

    private static let limit = 1_000
    static let milliseconds: Int64 = 3_600_000

    func includes(_ origin: Origin, now: Int64) -> Bool { ends[origin].map { now < $0 } ?? false }

    mutating func begin(_ origin: Origin, now: Int64) {
        if ends.count >= Self.limit { ends.removeAll() }
        ends[origin] = now + Self.milliseconds
    }

    mutating func end(_ origin: Origin) { ends[origin] = nil }

    /// The failure of a request that the fallback sent over HTTP/1.1 and that got no response. The server did not
    /// choose HTTP/1.1, so a failure of the protocol becomes a lost connection, and the next request uses HTTP/2.
    static func failure(_ failure: Failure, of origin: Origin) -> Failure {
        guard [.badResponse, .tlsFailed].contains(failure.status) else { return failure }
        return Failure(
            .connectionLost,
            "\(origin.text) gave no response over HTTP/1.1, and the next request goes over HTTP/2: \(failure.message)",
            domain: failure.domain, detail: failure.detail)
    }
}
