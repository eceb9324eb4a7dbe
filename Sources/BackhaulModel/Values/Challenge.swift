/// Row number of a challenge in its store; grows, never used twice.
public struct ChallengeID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: ChallengeID, right: ChallengeID) -> Bool { left.rawValue < right.rawValue }
}

/// How a credential may be given: `BH_SCHEME_…` bits.
public struct AuthenticationSchemes: OptionSet, Hashable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let basic = AuthenticationSchemes(rawValue: 1)
    public static let bearer = AuthenticationSchemes(rawValue: 2)
    public static let digest = AuthenticationSchemes(rawValue: 4)
    public static let negotiate = AuthenticationSchemes(rawValue: 8)
    public static let other = AuthenticationSchemes(rawValue: 16)
}

/// What a credential is for (RFC 9110, section 11.5): one challenge is open for each, however many tasks wait.
public struct ProtectionSpace: Hashable, Sendable {
    /// `BH_CHALLENGE_…`
    public enum Kind: Int32, Sendable, CaseIterable {
        case server = 1
        case proxy = 2
        case refresh = 3
    }
    public var kind: Kind
    /// "https://example.org:443", of the server or of the proxy.
    public var origin: String
    public var realm: String?
    /// Of a refresh of one task's URL: that task.
    public var task: TaskID?

    public init(kind: Kind, origin: String, realm: String?, task: TaskID? = nil) {
        self.kind = kind
        self.origin = origin
        self.realm = realm
        self.task = task
    }
}

/// A question for a credential: `bh_challenge`.
public struct Challenge: Equatable, Sendable {
    public var id: ChallengeID
    public var space: ProtectionSpace
    public var schemes: AuthenticationSchemes
    /// Answers in a row that did not serve.
    public var failures: UInt32
    /// Unix milliseconds of its opening.
    public var timeMilliseconds: Int64
    /// When this was read.
    public var waitingTasks: UInt64
    /// Of a refresh of one task's URL: that URL.
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

/// An answer to a challenge: `bh_response`. Lives in memory only, and its text never shows it.
public enum ChallengeResponse: Equatable, Sendable {
    case refuse
    case credential(user: String, password: String)
    case headers([HeaderField])
    /// Go on without.
    case standard
    case url(String)
}

/// How long an answer is good.
public struct AnswerLife: Equatable, Sendable {
    /// Unix milliseconds; nil: until it is refused.
    public var expiresMilliseconds: Int64?
    /// In the store, too.
    public var isKept: Bool

    public init(expiresMilliseconds: Int64? = nil, isKept: Bool = false) {
        self.expiresMilliseconds = expiresMilliseconds
        self.isKept = isKept
    }
}

/// An answer in the store, for the next engine.
public struct KeptAnswer: Equatable, Sendable {
    public var space: ProtectionSpace
    /// That it has answered.
    public var challenge: ChallengeID
    /// What was offered then.
    public var schemes: AuthenticationSchemes
    public var response: ChallengeResponse
    /// Unix milliseconds; nil: until it is refused.
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
