internal import BackhaulModel

/// Counts the connections to each origin that the transport has abandoned, because a request has got no response in
/// time. Such a connection may be silent for ever, but libcurl uses an open HTTP/2 connection for each further request
/// to its origin. libcurl has no option that excludes a connection, and does not check the response to a PING.
/// So after an abandoned connection, requests have another `ConnectionIdentity`, with a pool of its own.
struct AbandonedConnections {
    private var counts: [Origin: Int] = [:]

    /// If there are more origins, all counts are forgotten.
    private static let limit = 1_000

    func count(of origin: Origin) -> Int { counts[origin, default: 0] }

    /// Counts a connection.
    /// - known: the count when the connection was made. If the count is higher now, new requests cannot get the
    ///   connection any more, so the count stays.
    mutating func add(_ origin: Origin, known: Int) {
        guard count(of: origin) == known else { return }
        if counts[origin] == nil, counts.count >= Self.limit { counts.removeAll() }
        counts[origin] = known + 1
    }
}
