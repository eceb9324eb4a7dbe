internal import CBackhaul

/// A demand for a credential, for one protection space: origin and realm (RFC 9110, section 11.5).
///
/// A challenge is open until `Session.respond`, or until no task waits for it; acknowledging its event does not end it.
public struct Challenge: Hashable, Sendable, Identifiable {
    /// What demands a credential.
    public enum Kind: Int32, Hashable, Sendable {
        /// A server, with 401.
        case server = 1
        /// A proxy, with 407.
        case proxy = 2
        /// The engine: the part of the request that `Request.refresh` names has expired, or got a 401 or 403.
        case refresh = 3
    }

    /// Authentication schemes that were offered (RFC 9110, section 11).
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

    /// The challenge's id. Ids grow and are never used twice in a store.
    public let id: UInt64
    /// Nil if only a newer version of the library has this kind.
    public let kind: Kind?
    public let schemes: Schemes
    /// The origin of the server or the proxy, such as "https://example.org:443".
    public let origin: String
    public let realm: String?
    /// The number of credentials in a row that were refused. A host should stop after a few.
    public let failures: Int
    /// When the challenge was opened, as Unix time in milliseconds.
    public let timeMilliseconds: Int64
    /// The number of tasks that waited for it when it was read.
    public let waitingTasks: UInt64
    /// The task of a `.refresh` challenge for a URL; else nil.
    public let taskID: TaskID?
    /// The present URL of that task; else nil.
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
