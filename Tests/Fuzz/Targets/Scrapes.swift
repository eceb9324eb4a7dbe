import BackhaulModel

/// What clients send to the server of metrics.
enum Scrapes {
    /// A request has few lines. Each prefix of a large input would take too long.
    private static let mostLines = 50

    @Sendable static func request(_ bytes: [UInt8]) throws {
        let verdict = ScrapeRequest.read(bytes, isTCP: true)
        let lineEnds = bytes.indices.filter { bytes[$0] == 0x0A }
        for count in lineEnds.prefix(mostLines).flatMap({ [$0, $0 + 1] }) {
            guard let early = ScrapeRequest.read(Array(bytes.prefix(count)), isTCP: true) else { continue }
            try requireEqual(early, verdict, "the verdict on the first \(count) bytes")
        }
        if verdict != .refused(.misdirected) {
            try requireEqual(ScrapeRequest.read(bytes, isTCP: false), verdict, "the verdict over a Unix socket")
        }
        if case .metrics(_, let hasBody)? = verdict {
            let beginning = hasBody ? "GET /metrics" : "HEAD /metrics"
            try require(bytes.starts(with: beginning.utf8), "metrics for another request")
        }
    }
}
