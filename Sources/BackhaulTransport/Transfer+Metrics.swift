internal import BackhaulModel
internal import BackhaulPlatform

/// What libcurl does not tell of a request once it is over, or at all.
struct HopTiming {
    private(set) var startedMilliseconds: Int64 = 0
    private var started: Int64 = 0
    private(set) var isProxied = false
    /// It had a connection that it could be sent over.
    private(set) var isConnected = false
    /// The connection was made for this request.
    private(set) var isFirstOnConnection = false
    /// It has a connection that was made for an earlier one.
    var isReused: Bool { isConnected && !isFirstOnConnection }
    private var connections = 0
    private(set) var tls: TLSAgreement?
    /// Microseconds after the start.
    private(set) var bodyEnd: Int64?

    init() {}

    init(isProxied: Bool) {
        self.isProxied = isProxied
        startedMilliseconds = Clock.wallMilliseconds
        started = Clock.bootMicroseconds
    }

    /// `connections`: that libcurl has made for it so far.
    mutating func requestBegan(_ tls: TLSAgreement?, connections: Int) {
        isConnected = true
        isFirstOnConnection = connections > self.connections
        self.connections = connections
        self.tls = tls
    }

    /// libcurl has made another connection since the request began.
    func isBehind(connections: Int) -> Bool { connections > self.connections }

    mutating func bodyEnded() { bodyEnd = Clock.bootMicroseconds - started }
}

extension Transfer {
    /// Of the request that libcurl has in hand.
    func takeMetrics() {
        guard let easy else { return }
        metrics = easy.metrics(isConnected: timing.isConnected)
        metrics.startedMilliseconds = timing.startedMilliseconds
        metrics.url = url
        metrics.redirects = UInt32(clamping: redirects)
        metrics.proxyConnection = timing.isProxied
        metrics.tlsVersion = timing.tls?.version
        metrics.tlsCipher = timing.tls?.cipher
        if let bodyEnd = timing.bodyEnd { metrics.requestEnd = max(bodyEnd, metrics.requestStart ?? 0) }
    }
}
