internal import BackhaulModel

/// The origins (scheme, host name and port) to which requests are sent over HTTP/1.1, although these origins may
/// support HTTP/2. For each of these origins, an HTTP/2 connection has ended before the server marked the end of a
/// response (END_STREAM).
///
/// A fallback ends after an hour, because the server may have been repaired by then. If a request over HTTP/1.1 gets no
/// response, the fallback ends early: the server may support only HTTP/2, or another server may have the address now.
struct HTTP1Fallback {
    /// The time at which the fallback of each origin ends, in milliseconds of the boot clock (CLOCK_BOOTTIME).
    private var ends: [Origin: Int64] = [:]

    private static let limit = 1_000
    static let milliseconds: Int64 = 3_600_000

    func includes(_ origin: Origin, now: Int64) -> Bool { ends[origin].map { now < $0 } ?? false }

    mutating func begin(_ origin: Origin, now: Int64) {
        if ends.count >= Self.limit { ends.removeAll() }
        ends[origin] = now + Self.milliseconds
    }

    mutating func end(_ origin: Origin) { ends[origin] = nil }

    /// Translates the failure of a request that was sent over HTTP/1.1 because of a fallback, and that got no response.
    /// The server has not chosen HTTP/1.1, and perhaps does not support it. So an invalid response or a TLS failure is
    /// reported as a lost connection. The next request uses HTTP/2.
    static func failure(_ failure: Failure, of origin: Origin) -> Failure {
        guard [.badResponse, .tlsFailed].contains(failure.status) else { return failure }
        return Failure(
            .connectionLost,
            "\(origin.text) gave no response over HTTP/1.1, and the next request goes over HTTP/2: \(failure.message)",
            domain: failure.domain, detail: failure.detail)
    }
}
