internal import BackhaulModel
internal import BackhaulPlatform

/// Times and facts of one request that the transport records itself. libcurl never reports some of these values. After
/// the request has ended, libcurl no longer reports the remaining values.
struct HopTiming {
    private(set) var startedMilliseconds: Int64 = 0
    private var started: Int64 = 0
    private(set) var isProxied = false
    /// Whether the request got a connection.
    private(set) var isConnected = false
    /// Whether the connection was made for this request.
    private(set) var isFirstOnConnection = false
    /// Whether the request uses a connection that was made for an earlier request.
    var isReused: Bool { isConnected && !isFirstOnConnection }
    private var connections = 0
    private(set) var tls: NegotiatedTLS?
    /// The time at which the last byte of the body was passed to libcurl, in microseconds after the start.
    private(set) var bodyEnd: Int64?

    init() {}

    init(isProxied: Bool) {
        self.isProxied = isProxied
        startedMilliseconds = Clock.wallMilliseconds
        started = Clock.bootMicroseconds
    }

    /// - connections: the number of connections that libcurl has made for this request so far.
    mutating func requestBegan(_ tls: NegotiatedTLS?, connections: Int) {
        isConnected = true
        isFirstOnConnection = connections > self.connections
        self.connections = connections
        self.tls = tls
    }

    /// Returns whether libcurl has made another connection since `requestBegan`. `connections` means the same as in
    /// that function.
    func isBehind(connections: Int) -> Bool { connections > self.connections }

    mutating func bodyEnded() { bodyEnd = Clock.bootMicroseconds - started }
}

extension Transfer {
    /// Copies the metrics of the current request from libcurl.
    func takeMetrics() {
        guard let easy = curl?.easy else { return }
        let timing = exchange.timing
        metrics = easy.metrics(isConnected: timing.isConnected)
        metrics.startedMilliseconds = timing.startedMilliseconds
        metrics.url = request.s3 == nil ? target.url : request.url
        metrics.redirects = UInt32(clamping: target.redirects)
        metrics.proxyConnection = timing.isProxied
        metrics.tlsVersion = timing.tls?.version
        metrics.tlsCipher = timing.tls?.cipher
        if let bodyEnd = timing.bodyEnd { metrics.requestEnd = max(bodyEnd, metrics.requestStart ?? 0) }
    }
}
