internal import CBackhaul

/// Where a session's cookies live (RFC 6265).
public enum CookiePolicy: Int32, Hashable, Sendable {
    case none = 1
    /// In the engine, until it leaves.
    case memory = 2
    /// In the store, but those without an expiry, which live in the engine.
    case persistent = 3
}

public enum TLSVersion: Int32, Hashable, Sendable {
    case tls1_2 = 12
    case tls1_3 = 13
}

/// Faults of servers that a session accepts.
public struct Tolerances: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ constant: Int) { rawValue = UInt32(constant) }

    /// Over TLS, a response body that ends with the connection is whole, although the server sent no close_notify.
    /// Without it the task fails with `.tlsTruncated`, because an attacker can cut such a body.
    public static let missingCloseNotify = Tolerances(BH_TOLERATE_MISSING_CLOSE_NOTIFY)
    /// A response of success to an upload counts, although it came before the request's body was sent.
    public static let earlyResponse = Tolerances(BH_TOLERATE_EARLY_RESPONSE)
}

/// How many ended tasks a session remembers.
public enum HistoryLimit: Hashable, Sendable {
    case none
    /// At most 100,000.
    case tasks(Int)
}

/// What a session remembers from its creation on; attaching needs the identifier alone. Nil stands for the default.
@dynamicMemberLookup
public struct SessionConfiguration: Hashable, Sendable {
    /// 1 to 255 bytes without control characters.
    public var identifier: String
    /// Default 6, at most 256. Over HTTP/2 tasks share one connection.
    public var connectionsPerOrigin: Int?
    /// Default 64, at most 1,024.
    public var maximumRunningTasks: Int?
    /// How all its transfers are made; a request's own policy goes before it. Its members are this value's, too.
    public var policy = Policy()
    /// Absolute path of PEM certificates to trust instead of the system's.
    public var certificateFile: String?
    /// Default true: its rounds and challenges launch the application. False: they wait for a host.
    public var sendsLaunchEvents: Bool?
    /// True: a 401 or 407 becomes a challenge, for which its tasks wait. Default false: it is a failure of the task.
    public var asksForCredentials: Bool?
    /// When the consumer's process has been stopped (SIGSTOP, debugger, freezer) for so long while the session needs
    /// it, launch all the same. Default never.
    public var launchIfStopped: Duration?
    /// Sent with each request to its URL's origin; one of the request's own with the same name takes its place.
    public var headers: [Header] = []
    /// "http://…", "https://…", "socks5://…", "socks5h://…" (which resolves names) or "none". Default: as the
    /// environment of the engine says.
    public var proxy: String?
    public var proxyUser: String?
    public var proxyPassword: String?
    /// Names and addresses that need no proxy, with commas between.
    public var noProxy: String?
    /// Default `.none`.
    public var cookies: CookiePolicy?
    /// Default 1.2.
    public var minimumTLS: TLSVersion?
    /// Absolute path of PEM: the certificate and those that vouch for it.
    public var clientCertificate: String?
    /// Absolute path of its key in PEM; nil: in `clientCertificate`.
    public var clientKey: String?
    /// "sha256//BASE64;sha256//…", of the server's key.
    public var pinnedPublicKeys: String?
    /// Default 1,000 tasks.
    public var historyLimit: HistoryLimit?
    /// Default a minute: how long less than `minimumBytesPerSecond` comes before it pauses.
    public var slowAfter: Duration?
    /// Default 5 minutes: before the first probe; doubles up to twelve times of it.
    public var slowPause: Duration?
    /// True: tasks that a launched program enqueues are `.discretionary`, as Apple treats those of an app in the
    /// background. Default false.
    public var isDiscretionaryIfLaunched: Bool?
    /// Bytes that the session may move, both ways, on any one network in a day of local time; 0: none. Default no
    /// limit.
    public var dailyBudget: UInt64?
    /// The same, in a calendar month.
    public var monthlyBudget: UInt64?
    /// Faults of servers that its tasks accept. Default none.
    public var tolerances: Tolerances = []

    public init(identifier: String) { self.identifier = identifier }

    public subscript<Value>(dynamicMember member: WritableKeyPath<Policy, Value>) -> Value {
        get { policy[keyPath: member] }
        set { policy[keyPath: member] = newValue }
    }

    public subscript<Value>(dynamicMember member: WritableKeyPath<Constraints, Value>) -> Value {
        get { policy.constraints[keyPath: member] }
        set { policy.constraints[keyPath: member] = newValue }
    }
}
