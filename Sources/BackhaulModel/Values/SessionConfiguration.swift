/// The stored configuration of a session: `bh_session_configuration` with its defaults filled in.
@dynamicMemberLookup
public struct SessionConfiguration: Equatable, Sendable {
    public var identifier: String
    /// The options that a request can replace. Each of them is also a property of the configuration.
    public var policy = TaskPolicy.standard
    public var connectionsPerOrigin: UInt32 = 6
    public var maximumRunningTasks: UInt32 = 64
    /// The absolute path of a file with PEM certificates to trust instead of the system's certificates.
    public var caFile: String?
    /// Whether the engine launches the application when all tasks of this session have ended, or when a challenge of
    /// this session is open.
    public var sendsLaunchEvents = true
    /// Whether a 401 or 407 response becomes a challenge. Otherwise, such a response fails the task.
    public var asksForCredentials = false
    /// For how many milliseconds the process of the consumer may be stopped (SIGSTOP). After this time, the engine
    /// launches the application although the session has a consumer. 0: no limit.
    public var launchIfStoppedMilliseconds: UInt32 = 0
    /// Header fields that are sent with each request, but only to the origin of the request's URL. If the request has a
    /// field with the same name, the request's field is sent instead.
    public var headers: [HeaderField] = []
    public var proxy = ProxyConfiguration()
    public var cookies = CookiePolicy.none
    public var tls = TLSConfiguration()
    /// How many ended tasks the session's history lists; nil: no task.
    public var historyLimit: UInt32? = 1_000
    /// If an origin is slower than `minimumBytesPerSecond` for this number of milliseconds, the engine pauses the
    /// transfers of this origin.
    public var slowAfterMilliseconds: UInt32 = 60_000
    /// The length of the first pause of a slow origin, in milliseconds. After the pause, one transfer tests whether the
    /// origin is still slow.
    public var slowPauseMilliseconds: UInt32 = 300_000
    /// Whether the tasks that a launched host adds get the preset `discretionary`.
    public var isDiscretionaryIfLaunched = false
    /// How many bytes the session may move on each network in a day and in a month.
    public var budget = ByteBudget()
    /// Faults of servers that this session's tasks tolerate.
    public var tolerances: Tolerances = []

    public init(identifier: String) { self.identifier = identifier }

    /// Visits all fields except the identifier, which does not change.
    public mutating func visitFields<Visitor: FieldVisitor>(with visitor: inout Visitor) throws(Visitor.Problem) {
        try policy.visitFields(with: &visitor)
        try policy.constraints.visitFields(with: &visitor)
        try visitor.field(
            &connectionsPerOrigin, "connections_per_origin", 1...UInt64(Limits.connectionsPerOrigin))
        try visitor.field(&maximumRunningTasks, "maximum_running_tasks", 1...UInt64(Limits.runningTasks))
        try visitor.field(&caFile, "tls.ca_file")
        try visitor.field(&sendsLaunchEvents, "sends_launch_events")
        try visitor.field(&asksForCredentials, "asks_for_credentials")
        try visitor.field(&launchIfStoppedMilliseconds, "launch_if_stopped_ms", 0...Limits.delay.upperBound)
        try visitor.visit(&headers, "headers")
        try visitor.field(&proxy.url, "proxy.url")
        try visitor.field(&proxy.user, "proxy.user")
        try visitor.field(&proxy.password, "proxy.password")
        try visitor.field(&proxy.exceptions, "proxy.bypass")
        try visitor.field(&cookies, "cookies")
        try visitor.field(&tls.minimum, "tls.minimum_version")
        try visitor.field(&tls.clientCertificate, "tls.client_certificate")
        try visitor.field(&tls.clientKey, "tls.client_key")
        try visitor.field(&tls.pinnedPublicKeys, "tls.pinned_public_keys")
        try visitor.field(&historyLimit, "history_limit", 1...UInt64(Limits.history))
        try visitor.field(&slowAfterMilliseconds, "slow_after_ms", 1_000...Limits.delay.upperBound)
        try visitor.field(&slowPauseMilliseconds, "slow_pause_ms", 1_000...Limits.delay.upperBound)
        try visitor.field(&isDiscretionaryIfLaunched, "discretionary_if_launched")
        try visitor.field(&budget.daily, "budget.daily")
        try visitor.field(&budget.monthly, "budget.monthly")
        try visitor.field(&tolerances, "tolerances")
    }

    @inlinable @inline(__always)
    public subscript<Value>(dynamicMember option: WritableKeyPath<TaskPolicy, Value?>) -> Value {
        get { policy.stated(option) }
        set { policy[keyPath: option] = newValue }
    }

    // These options have no default.

    public var maximumAttempts: UInt32? {
        get { policy.maximumAttempts }
        set { policy.maximumAttempts = newValue }
    }

    public var maximumSize: UInt64? {
        get { policy.maximumSize }
        set { policy.maximumSize = newValue }
    }

    public var bytesPerSecond: UInt64? {
        get { policy.bytesPerSecond }
        set { policy.bytesPerSecond = newValue }
    }

    public var constraints: Constraints {
        get { policy.constraints }
        set { policy.constraints = newValue }
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
    /// Whether the unacknowledged events include an event of a due activity.
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
