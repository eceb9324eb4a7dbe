/// The stored configuration of a session, which is a named collection of tasks (uploads and downloads):
/// `bh_session_configuration` with its defaults filled in.
public struct SessionConfiguration: Equatable, Sendable {
    public var identifier: String
    public var connectionsPerOrigin: UInt32 = 6
    public var maximumRunningTasks: UInt32 = 64
    /// If this number of attempts (runs of the task) in a row have stored no new byte, the task fails. Nil: only the
    /// resource time-out limits the attempts.
    public var maximumAttempts: UInt32?
    public var firstRetryDelayMilliseconds: UInt32 = 1_000
    public var longestRetryDelayMilliseconds: UInt32 = 600_000
    /// The request time-out: how many milliseconds may pass without a received or sent byte.
    public var requestTimeoutMilliseconds: UInt32 = 60_000
    /// The resource time-out: how many milliseconds a task may take from its enqueue to its end.
    public var resourceTimeoutMilliseconds: UInt64 = 604_800_000
    /// The absolute path of a file with PEM certificates to trust instead of the system's certificates.
    public var caFile: String?
    /// Whether the *engine*, which runs the tasks, *launches* the application: it starts the application's program. The
    /// engine launches it when all tasks of this session have ended (a finished *round*), or when a challenge of this
    /// session is open. A *challenge* is a demand to the application, for example for a credential.
    public var sendsLaunchEvents = true
    /// Whether a 401 or 407 response becomes a challenge, so that the host (the program that uses the library) can give
    /// a credential. If this property is false, such a response fails the task.
    public var asksForCredentials = false
    /// For how many milliseconds the process of the consumer, which reads the session's events, may be stopped
    /// (SIGSTOP). After this time, the engine launches the application although the session has a consumer. 0: no
    /// limit.
    public var launchIfStoppedMilliseconds: UInt32 = 0
    public var retryJitterPercent: UInt32 = 50
    public var retryErrors = RetryErrors.standard
    public var retriesUnsafeMethods = false
    public var retryStatuses = StatusList.transient
    public var acceptedStatuses = StatusList.successful
    public var httpVersion = HTTPVersion.standard
    public var redirects = RedirectPolicy.follow
    public var maximumRedirects: UInt32 = 20
    /// The largest size of a file, in bytes; nil: no limit.
    public var maximumSize: UInt64?
    /// Header fields that are sent with each request, but only to the origin of the request's URL. If the request has a
    /// field with the same name, the request's field is sent instead.
    public var headers: [HeaderField] = []
    /// The rate limit for all tasks of the session together; nil: no limit.
    public var bytesPerSecond: UInt64?
    public var proxy = ProxyConfiguration()
    public var cookies = CookiePolicy.none
    public var tls = TLSConfiguration()
    /// How many ended tasks the session's history lists; nil: no task.
    public var historyLimit: UInt32? = 1_000
    public var constraints = Constraints()
    /// If an origin (scheme, host name and port) is slower than `minimumBytesPerSecond` for this number of
    /// milliseconds, the engine pauses the transfers of this origin.
    public var slowAfterMilliseconds: UInt32 = 60_000
    /// The length of the first pause of a slow origin, in milliseconds. After the pause, one transfer tests whether the
    /// origin is still slow.
    public var slowPauseMilliseconds: UInt32 = 300_000
    /// Whether the tasks that a launched host adds get the preset `discretionary`. A launched host is a program that
    /// the engine has started. With this preset, a task waits for external power, an unmetered network, a cool machine
    /// and a link that is not slow.
    public var isDiscretionaryIfLaunched = false
    /// How many bytes the session may move on each network in a day and in a month.
    public var budget = ByteBudget()
    /// Faults of servers that this session's tasks tolerate.
    public var tolerances: Tolerances = []

    public init(identifier: String) { self.identifier = identifier }

    /// Visits all fields except the identifier, which does not change.
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

/// The proxy of a session.
public struct ProxyConfiguration: Hashable, Sendable {
    /// The URL of the proxy; nil: the proxy that the environment states; "none": no proxy.
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

/// Which cookies a session keeps, and where: `BH_COOKIES_…`.
public enum CookiePolicy: Int32, Sendable, CaseIterable {
    case none = 1
    case memory = 2
    case persistent = 3
}

public struct TLSConfiguration: Hashable, Sendable {
    /// A version of TLS: `BH_TLS_…`.
    public enum Version: Int32, Sendable, CaseIterable {
        case tls12 = 12
        case tls13 = 13
    }
    public var minimum = Version.tls12
    /// The absolute path of a PEM file with the client certificate.
    public var clientCertificate: String?
    public var clientKey: String?
    /// Pins in the form "sha256//BASE64;sha256//…".
    public var pinnedPublicKeys: String?
    public init() {}
}

/// What a handle (a program's reference to a session) may do: `BH_ROLE_…`.
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
    /// Whether the unacknowledged events include the end of a round (`sessionFinished`).
    public var hasFinishedRound: Bool
    public var isInvalidating: Bool
    /// The process id of the consumer; 0 if there is none.
    public var consumer: Int64
    public var createdMilliseconds: Int64
    /// The id of the newest committed event, even if the event is acknowledged; zero if there was none.
    public var newestEvent: EventID
    public var openChallenges: UInt64 = 0
    /// Whether the unacknowledged events include an event of a due activity (work that repeats).
    public var hasActivity = false
    /// When the engine first saw that the consumer's process is stopped, in Unix milliseconds; 0: the process is not
    /// stopped.
    public var consumerStoppedMilliseconds: Int64 = 0
    /// The number of handles that wait for the right to read the session's events.
    public var waitingConsumers: UInt32 = 0
    /// The state of the application's launch; `none` if this session does not need the launch.
    public var launchState = LaunchState.none
    /// The time of the next launch in Unix milliseconds; 0 if there is none.
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
