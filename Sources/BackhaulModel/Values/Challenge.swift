/// The row number of a challenge in its store. Numbers grow and are never reused. A challenge demands something from
/// the host: a credential, new headers or a new URL.
public struct ChallengeID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: ChallengeID, right: ChallengeID) -> Bool { left.rawValue < right.rawValue }
}

/// The schemes by which a credential may be given: `BH_SCHEME_…` bits.
public struct AuthenticationSchemes: OptionSet, Hashable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let basic = AuthenticationSchemes(rawValue: 1)
    public static let bearer = AuthenticationSchemes(rawValue: 2)
    public static let digest = AuthenticationSchemes(rawValue: 4)
    public static let negotiate = AuthenticationSchemes(rawValue: 8)
    public static let other = AuthenticationSchemes(rawValue: 16)
}

/// Where a credential is valid (RFC 9110, section 11.5). Each protection space has at most one open challenge, even if
/// many tasks wait for the credential.
public struct ProtectionSpace: Hashable, Sendable {
    /// What demands the credential: `BH_CHALLENGE_…`.
    public enum Kind: Int32, Sendable, CaseIterable {
        case server = 1
        case proxy = 2
        case refresh = 3
    }
    public var kind: Kind
    /// The origin of the server or proxy, such as "https://example.org:443".
    public var origin: String
    public var realm: String?
    /// The task that needs a new URL; nil in all other cases.
    public var task: TaskID?

    public init(kind: Kind, origin: String, realm: String?, task: TaskID? = nil) {
        self.kind = kind
        self.origin = origin
        self.realm = realm
        self.task = task
    }

    /// The server or proxy that demands the credential, without the realm.
    public struct Server: Hashable, Sendable {
        private let kind: Kind
        private let origin: String

        fileprivate init(_ space: ProtectionSpace) { (kind, origin) = (space.kind, space.origin) }
    }
    public var server: Server { Server(self) }
}

/// A demand for a credential, new headers or a new URL: `bh_challenge`.
public struct Challenge: Equatable, Sendable {
    public var id: ChallengeID
    public var space: ProtectionSpace
    public var schemes: AuthenticationSchemes
    /// How many times in a row the server has rejected what the host gave.
    public var failures: UInt32
    /// When the challenge was opened, in Unix milliseconds.
    public var timeMilliseconds: Int64
    /// How many tasks waited for the challenge when the challenge was read from the store.
    public var waitingTasks: UInt64
    /// If the challenge demands a new URL: the present URL of the task; nil in all other cases.
    public var url: String?

    public init(
        id: ChallengeID, space: ProtectionSpace, schemes: AuthenticationSchemes, failures: UInt32,
        timeMilliseconds: Int64, waitingTasks: UInt64, url: String? = nil
    ) {
        self.id = id
        self.space = space
        self.schemes = schemes
        self.failures = failures
        self.timeMilliseconds = timeMilliseconds
        self.waitingTasks = waitingTasks
        self.url = url
    }
}

/// A host's response to a challenge: `bh_response`. The property `description` never shows the credential.
public enum ChallengeResponse: Equatable, Sendable {
    case refuse
    case credential(user: String, password: String)
    case headers([HeaderField])
    /// Continue without a credential.
    case standard
    case url(String)
}

/// How long a host's response to a challenge is valid.
public struct CredentialLifetime: Equatable, Sendable {
    /// When the response expires, in Unix milliseconds; nil if it is valid until the server rejects it.
    public var expiresMilliseconds: Int64?
    /// Whether the response is also stored on disk. If so, it is valid after a restart of the engine.
    public var isKept: Bool

    public init(expiresMilliseconds: Int64? = nil, isKept: Bool = false) {
        self.expiresMilliseconds = expiresMilliseconds
        self.isKept = isKept
    }
}

/// A host's response to a challenge, as it is stored on disk for the time after a restart of the engine.
public struct StoredCredential: Equatable, Sendable {
    public var space: ProtectionSpace
    /// The challenge to which the host responded.
    public var challenge: ChallengeID
    /// The schemes that the server offered in that challenge.
    public var schemes: AuthenticationSchemes
    public var response: ChallengeResponse
    /// When the response expires, in Unix milliseconds; nil if it is valid until the server rejects it.
    public var expiresMilliseconds: Int64?

    public init(
        space: ProtectionSpace, challenge: ChallengeID, schemes: AuthenticationSchemes, response: ChallengeResponse,
        expiresMilliseconds: Int64? = nil
    ) {
        self.space = space
        self.challenge = challenge
        self.schemes = schemes
        self.response = response
        self.expiresMilliseconds = expiresMilliseconds
    }
}

extension ChallengeResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch self {
        case .refuse: "refusal"
        case .credential: "credential"
        case .headers: "headers"
        case .standard: "default"
        case .url: "URL"
        }
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
