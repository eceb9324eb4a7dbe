internal import CBackhaul

/// A demand for a credential, for one protection space: origin and realm (RFC 9110, section 11.5). It is open until
/// `Session.respond`, or until no task waits for it; acknowledging its event does not end it.
public struct Challenge: Hashable, Sendable, Identifiable {
    /// Who asks for a credential.
    public enum Kind: Int32, Hashable, Sendable {
        /// A server asks: 401.
        case server = 1
        /// A proxy asks: 407.
        case proxy = 2
        /// The engine asks: what `Request.refresh` names has expired, or got a 401 or 403.
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

    /// Grows; never used twice in a store.
    public let id: UInt64
    /// Nil: a kind that only a newer library has.
    public let kind: Kind?
    public let schemes: Schemes
    /// "https://example.org:443", of the server or the proxy.
    public let origin: String
    public let realm: String?
    /// Credentials in a row that were refused: limit your tries.
    public let failures: Int
    /// Unix time of its opening in milliseconds.
    public let timeMilliseconds: Int64
    /// When this was read.
    public let waitingTasks: UInt64
    /// Of `.refresh` for a URL: its task.
    public let taskID: TaskID?
    /// Of the same: the present URL.
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
