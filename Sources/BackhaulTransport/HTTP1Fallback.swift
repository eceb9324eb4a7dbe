internal import BackhaulModel

/// Origins whose HTTP/2 connections ended in place of the response. They are asked over HTTP/1.1.
///
/// A fallback ends with the first request over HTTP/1.1 that brings no response: the server may speak HTTP/2 alone, or
/// another one may have the address. It also ends after an hour, when the server may have been repaired.
struct HTTP1Fallback {
    /// Boot-clock milliseconds.
    private var ends: [Origin: Int64] = [:]

    private static let limit = 1_000
    static let milliseconds: Int64 = 3_600_000

    func includes(_ origin: Origin, now: Int64) -> Bool { ends[origin].map { now < $0 } ?? false }

    mutating func begin(_ origin: Origin, now: Int64) {
        if ends.count >= Self.limit { ends.removeAll() }
        ends[origin] = now + Self.milliseconds
    }

    mutating func end(_ origin: Origin) { ends[origin] = nil }

    /// What becomes of a request that went over HTTP/1.1 because of the fallback, and got no response. The server did
    /// not choose HTTP/1.1, so the failure is none that HTTP/2 would have.
    static func failure(_ failure: Failure, of origin: Origin) -> Failure {
        guard [.badResponse, .tlsFailed].contains(failure.status) else { return failure }
        return Failure(
            .connectionLost,
            "\(origin.text) gave no response over HTTP/1.1, and the next request goes over HTTP/2: \(failure.message)",
            domain: failure.domain, detail: failure.detail)
    }
}
