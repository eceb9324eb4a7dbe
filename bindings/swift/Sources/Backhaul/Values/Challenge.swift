internal import CBackhaul

/// A question for a credential, for one protection space: the origin and the realm (RFC 9110, section 11.5). It stays
/// open until it is answered with `Session.respond`, whatever happens to its event, and its tasks wait.
public struct Challenge: Hashable, Sendable, Identifiable {
    /// Who asks.
    public enum Kind: Int32, Hashable, Sendable {
        /// The origin server: 401.
        case server = 1
        /// The proxy: 407.
        case proxy = 2
        /// Ourselves: what `Request.refresh` names has expired, or got a 401 or 403.
        case refresh = 3
    }

    /// How the credential may be given: the schemes of WWW-Authenticate or Proxy-Authenticate (RFC 9110, section 11).
    public struct Schemes: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        public static let basic = Schemes(BH_SCHEME_BASIC)
        public static let bearer = Schemes(BH_SCHEME_BEARER)
        public static let digest = Schemes(BH_SCHEME_DIGEST)
        public static let negotiate = Schemes(BH_SCHEME_NEGOTIATE)
        public static let other = Schemes(BH_SCHEME_OTHER)

        private init(_ constant: Int) { rawValue = UInt32(constant) }
    }

    /// Grows; never used twice in a store.
    public let id: UInt64
    /// Nil: a kind that only a newer library knows.
    public let kind: Kind?
    public let schemes: Schemes
    /// "https://example.org:443", of the server or of the proxy.
    public let origin: String
    public let realm: String?
    /// Answers in a row that did not serve.
    public let failures: Int
    /// Unix time of its opening in milliseconds.
    public let timeMilliseconds: Int64
    /// When this was read.
    public let waitingTasks: UInt64
    /// Of a refresh of a URL, whose space is this task alone.
    public let taskID: TaskID?
    /// Of the same: as it is now.
    public let url: String?

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ challenge: bh_challenge) {
        id = challenge.id
        kind = Kind(rawValue: challenge.kind)
        schemes = Schemes(rawValue: challenge.schemes)
        origin = text(challenge.origin) ?? ""
        realm = text(challenge.realm)
        failures = Int(challenge.failures)
        timeMilliseconds = challenge.time_ms
        waitingTasks = challenge.waiting_tasks
        taskID = challenge.task_id == 0 ? nil : challenge.task_id
        url = text(challenge.url)
    }
}
