/// What is remembered with a session from its creation: `bh_session_configuration` with its defaults filled in.
public struct SessionConfiguration: Equatable, Sendable {
    public var identifier: String
    public var connectionsPerOrigin: UInt32 = 6
    public var maximumRunningTasks: UInt32 = 64
    /// Tries in a row without new durable bytes; nil: until the resource time-out.
    public var maximumAttempts: UInt32?
    public var firstRetryDelayMilliseconds: UInt32 = 1_000
    public var longestRetryDelayMilliseconds: UInt32 = 600_000
    /// Without a byte from the server.
    public var requestTimeoutMilliseconds: UInt32 = 60_000
    /// From enqueue.
    public var resourceTimeoutMilliseconds: UInt64 = 604_800_000
    /// Absolute path of PEM certificates to trust instead of the system's.
    public var caFile: String?
    /// Its rounds and challenges launch the application.
    public var sendsLaunchEvents = true
    /// A 401 or 407 becomes a challenge; otherwise it is a failure.
    public var asksForCredentials = false
    /// Launch all the same when the consumer's process has been stopped for so long; 0: never.
    public var launchIfStoppedMilliseconds: UInt32 = 0
    public var retryJitterPercent: UInt32 = 50
    public var retryErrors = RetryErrors.standard
    public var retriesUnsafeMethods = false
    public var retryStatuses = StatusList.transient
    public var acceptedStatuses = StatusList.successful
    public var httpVersion = HTTPVersion.standard
    public var redirects = RedirectPolicy.follow
    public var maximumRedirects: UInt32 = 20
    /// Nil: no limit.
    public var maximumSize: UInt64?
    /// Sent with each request to its URL's origin, unless the request has one of the same name.
    public var headers: [HeaderField] = []
    /// Of all its tasks together; nil: no limit.
    public var bytesPerSecond: UInt64?
    public var proxy = ProxyConfiguration()
    public var cookies = CookiePolicy.none
    public var tls = TLSConfiguration()
    /// How many ended tasks are remembered; nil: none.
    public var historyLimit: UInt32? = 1_000
    public var constraints = Constraints()
    /// How long less than `minimumBytesPerSecond` came before a pause.
    public var slowAfterMilliseconds: UInt32 = 60_000
    /// Before the first probe.
    public var slowPauseMilliseconds: UInt32 = 300_000
    /// Tasks that a launched host enqueues are discretionary, too.
    public var isDiscretionaryIfLaunched = false
    /// On any one network.
    public var budget = ByteBudget()
    /// Faults of servers that its tasks accept.
    public var tolerances: Tolerances = []

    public init(identifier: String) { self.identifier = identifier }

    /// All but the identifier, which does not change.
    public mutating func visitFields<Visitor: FieldVisitor>(with visitor: inout Visitor) throws(Visitor.Problem) {
        try visitor.field(&connectionsPerOrigin, "connections_per_origin")
        try visitor.field(&maximumRunningTasks, "maximum_running_tasks")
        try visitor.field(&maximumAttempts, "maximum_attempts")
        try visitor.field(&firstRetryDelayMilliseconds, "first_retry_delay_ms")
        try visitor.field(&longestRetryDelayMilliseconds, "longest_retry_delay_ms")
        try visitor.field(&requestTimeoutMilliseconds, "request_timeout_ms")
        try visitor.field(&resourceTimeoutMilliseconds, "resource_timeout_ms")
        try visitor.field(&caFile, "ca_file")
        try visitor.field(&sendsLaunchEvents, "sends_launch_events")
        try visitor.field(&asksForCredentials, "asks_for_credentials")
        try visitor.field(&launchIfStoppedMilliseconds, "launch_if_stopped_ms")
        try visitor.field(&retryJitterPercent, "retry_jitter_percent")
        try visitor.field(&retryErrors, "retry_errors")
        try visitor.field(&retriesUnsafeMethods, "retries_unsafe_methods")
        try visitor.field(&retryStatuses, "retry_statuses")
        try visitor.field(&acceptedStatuses, "accepted_statuses")
        try visitor.field(&httpVersion, "http_version")
        try visitor.field(&redirects, "redirects")
        try visitor.field(&maximumRedirects, "maximum_redirects")
        try visitor.field(&maximumSize, "maximum_size")
        try visitor.field(&headers, "headers")
        try visitor.field(&bytesPerSecond, "bytes_per_second")
        try visitor.field(&proxy.url, "proxy")
        try visitor.field(&proxy.user, "proxy_user")
        try visitor.field(&proxy.password, "proxy_password")
        try visitor.field(&proxy.exceptions, "no_proxy")
        try visitor.field(&cookies, "cookies")
        try visitor.field(&tls.minimum, "minimum_tls")
        try visitor.field(&tls.clientCertificate, "client_certificate")
        try visitor.field(&tls.clientKey, "client_key")
        try visitor.field(&tls.pinnedPublicKeys, "pinned_public_keys")
        try visitor.field(&historyLimit, "history_limit")
        try constraints.visitFields(with: &visitor)
        try visitor.field(&slowAfterMilliseconds, "slow_after_ms")
        try visitor.field(&slowPauseMilliseconds, "slow_pause_ms")
        try visitor.field(&isDiscretionaryIfLaunched, "discretionary_if_launched")
        try visitor.field(&budget.daily, "daily_budget")
        try visitor.field(&budget.monthly, "monthly_budget")
        try visitor.field(&tolerances, "tolerances")
    }
}

/// How a session reaches its servers.
public struct ProxyConfiguration: Hashable, Sendable {
    /// Nil: as the environment says. "none": no proxy.
    public var url: String?
    public var user: String?
    public var password: String?
    public var exceptions: String?
    public init() {}
}

extension ProxyConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { "proxy \(url ?? "of the environment")" }
    public var customMirror: Mirror { Mirror(self, children: ["url": url as Any]) }
}

/// `BH_COOKIES_…`
public enum CookiePolicy: Int32, Sendable, CaseIterable {
    case none = 1
    case memory = 2
    case persistent = 3
}

public struct TLSConfiguration: Hashable, Sendable {
    /// `BH_TLS_…`
    public enum Version: Int32, Sendable, CaseIterable {
        case tls12 = 12
        case tls13 = 13
    }
    public var minimum = Version.tls12
    /// Absolute paths of PEM files.
    public var clientCertificate: String?
    public var clientKey: String?
    /// "sha256//BASE64;sha256//…"
    public var pinnedPublicKeys: String?
    public init() {}
}

/// What a session handle may do: `BH_ROLE_…`.
public enum Role: Int32, Sendable, CaseIterable {
    case consume = 1
    case produce = 2
    case observe = 3

    public var mayChange: Bool { self != .observe }
}

/// A session as listings show it: `bh_session_info`.
public struct SessionInfo: Equatable, Sendable {
    public var identifier: String
    public var round: UInt64
    public var liveTasks: UInt64
    public var events: UInt64
    /// Whether a `session finished` is among the events.
    public var hasFinishedRound: Bool
    public var isInvalidating: Bool
    /// Process id of the consumer, or 0.
    public var consumer: Int64
    public var createdMilliseconds: Int64
    /// The newest committed event, acknowledged or not; zero when there was none.
    public var newestEvent: EventID
    public var openChallenges: UInt64 = 0
    /// Whether an activity that is due is among the events.
    public var hasActivity = false
    /// Unix milliseconds since when the consumer's process is seen to be stopped, or 0.
    public var consumerStoppedMilliseconds: Int64 = 0
    /// Handles that wait to consume.
    public var waitingConsumers: UInt32 = 0
    /// Of the application, as far as it concerns this session.
    public var launchState = LaunchState.none
    /// Unix milliseconds, or 0.
    public var nextLaunchMilliseconds: Int64 = 0

    public init(
        identifier: String, round: UInt64, liveTasks: UInt64, events: UInt64, hasFinishedRound: Bool,
        isInvalidating: Bool, consumer: Int64, createdMilliseconds: Int64, newestEvent: EventID
    ) {
        self.identifier = identifier
        self.round = round
        self.liveTasks = liveTasks
        self.events = events
        self.hasFinishedRound = hasFinishedRound
        self.isInvalidating = isInvalidating
        self.consumer = consumer
        self.createdMilliseconds = createdMilliseconds
        self.newestEvent = newestEvent
    }

    public var needsAttention: Bool { events > 0 || openChallenges > 0 || waitingConsumers > 0 }
}
