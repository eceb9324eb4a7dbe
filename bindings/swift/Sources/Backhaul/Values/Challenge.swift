internal import CBackhaul

/// A demand to the *host*. Usually, the challenge demands a credential. Each challenge is for one protection space: an
/// origin and a realm (RFC 9110, section 11.5).
///
/// A challenge is open until `Session.respond` is called for it, or until no task waits for it. An event (a stored
/// message for the host) reports a new challenge. After the host has acknowledged this event, the challenge stays open.
public struct Challenge: Hashable, Sendable, Identifiable {
    /// What demands the credential, the headers or the URL.
    public enum Kind: Int32, Hashable, Sendable {
        /// A server demands the credential by a response with status 401.
        case server = 1
        /// A proxy demands the credential by a response with status 407.
        case proxy = 2
        /// The engine demands new headers or a new URL (see `Request.refresh`). The present headers or URL have
        /// expired, or the server's response means that they have expired, such as status 401 or 403.
        case refresh = 3
    }

    /// The authentication schemes that the server or proxy offers (RFC 9110, section 11).
    public struct Schemes: OptionSet, Hashable, Sendable {
        /// The schemes as bits, as in the C header.
        public let rawValue: UInt32
        /// Makes a set of bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Basic (RFC 7617).
        public static let basic = Schemes(BH_SCHEME_BASIC)
        /// Bearer (RFC 6750).
        public static let bearer = Schemes(BH_SCHEME_BEARER)
        /// Digest (RFC 7616).
        public static let digest = Schemes(BH_SCHEME_DIGEST)
        /// Negotiate (RFC 4559).
        public static let negotiate = Schemes(BH_SCHEME_NEGOTIATE)
        /// Any other scheme.
        public static let other = Schemes(BH_SCHEME_OTHER)

        private init(_ constant: Int) { rawValue = UInt32(constant) }
    }

    /// The id of the challenge.
    public let id: ChallengeID
    /// Nil if the kind is from a newer version of the library.
    public let kind: Kind?
    /// The schemes of the challenge.
    public let schemes: Schemes
    /// The origin of the server or the proxy, such as "https://example.org:443".
    public let origin: String
    /// The realm, which the server or proxy has named. Nil if there is none.
    public let realm: String?
    /// How many credentials in a row were refused. After a few refusals, the host should give up.
    public let failures: Int
    /// When the challenge was opened, as Unix time in milliseconds.
    public let timeMilliseconds: Int64
    /// The number of tasks that waited for the challenge when the challenge was read.
    public let waitingTasks: UInt64
    /// For a `.refresh` challenge of a URL: the task that needs the new URL. Otherwise nil.
    public let taskID: TaskID?
    /// For a `.refresh` challenge of a URL: the present URL of the task. Otherwise nil.
    public let url: String?

    // Unsafe: the pointers are valid, because the C library's list is released only after its items are copied.
    init(_ challenge: bh_challenge) {
        id = ChallengeID(rawValue: challenge.id)
        kind = Kind(rawValue: challenge.kind)
        schemes = Schemes(rawValue: challenge.schemes)
        origin = text(challenge.origin) ?? ""
        realm = text(challenge.realm)
        failures = Int(challenge.failures)
        timeMilliseconds = challenge.time_ms
        waitingTasks = challenge.waiting_tasks
        taskID = nonzero(challenge.task_id).map { TaskID(rawValue: $0) }
        url = text(challenge.url)
    }
}
