internal import CBackhaul

/// Which version of HTTP is spoken.
public enum HTTPVersion: Int32, Hashable, Sendable {
    case http1_1 = 1
    /// Over TLS where the server can; without TLS by an upgrade from 1.1.
    case http2 = 2
    /// Also without TLS and without asking.
    case http2PriorKnowledge = 3
}

/// What becomes of a redirect. None ever leads from https to http.
public enum RedirectPolicy: Int32, Hashable, Sendable {
    case follow = 1
    /// Others fail with `.redirectRefused`.
    case sameOrigin = 2
    /// Each is an answer like any other, accepted or not by its status.
    case none = 3
}

/// Which errors are tried again.
public struct RetryErrors: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ constant: Int) { rawValue = UInt32(constant) }

    public static let name = RetryErrors(BH_RETRY_NAME)
    public static let connection = RetryErrors(BH_RETRY_CONNECTION)
    /// `.connectionLost` and `.tlsTruncated`.
    public static let lost = RetryErrors(BH_RETRY_LOST)
    public static let timeout = RetryErrors(BH_RETRY_TIMEOUT)
    /// A handshake that broke off; a certificate that does not verify never is tried again.
    public static let tls = RetryErrors(BH_RETRY_TLS)
    /// An answer whose status is one of `retryStatuses`.
    public static let status = RetryErrors(BH_RETRY_STATUS)
    public static let badResponse = RetryErrors(BH_RETRY_BAD_RESPONSE)
    /// None of them: alone. An empty set stands for the default.
    public static let nothing = RetryErrors(BH_RETRY_NOTHING)
}

/// How a transfer is made and tried again: of a request, as it differs from its session, and of a session. Nil: as the
/// session says; of a session the default given here.
@dynamicMemberLookup
public struct Policy: Hashable, Sendable {
    /// Tries in a row without new durable bytes; by default until the resource time-out.
    public var maximumAttempts: Int?
    /// Default 1 second; doubles with each try, with jitter.
    public var firstRetryDelay: Duration?
    /// Default 10 minutes.
    public var longestRetryDelay: Duration?
    /// How much of each delay is random, in percent. Default 50.
    public var retryJitter: Int?
    /// Default all but `.badResponse`.
    public var retryErrors: RetryErrors?
    /// Whether POST and PATCH are repeated although the server may have done what they ask. Default false.
    public var retriesUnsafeMethods: Bool?
    /// Default "408,425,429,500,502-504".
    public var retryStatuses: String?
    /// Default "200-299": others are failures.
    public var acceptedStatuses: String?
    /// Without a byte from the server. Default 60 seconds.
    public var requestTimeout: Duration?
    /// From enqueue. Default 7 days.
    public var resourceTimeout: Duration?
    /// Default 2 over TLS where the server can, else 1.1.
    public var httpVersion: HTTPVersion?
    /// Default `.follow`.
    public var redirects: RedirectPolicy?
    /// Default 20, at most 100.
    public var maximumRedirects: Int?
    /// Bytes that a file may have, else `.tooLarge`. Default no limit.
    public var maximumSize: UInt64?
    /// Both ways; of a session all its tasks together. Default no limit.
    public var bytesPerSecond: UInt64?
    /// What it waits for; its members are this value's, too.
    public var constraints = Constraints()

    public init() {}

    public subscript<Value>(dynamicMember member: WritableKeyPath<Constraints, Value>) -> Value {
        get { constraints[keyPath: member] }
        set { constraints[keyPath: member] = newValue }
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_policy {
        var value = bh_policy()
        value.struct_size = MemoryLayout<bh_policy>.size
        try fill(&value, arena)
        return value
    }

    func fill(_ value: inout some PolicyFields, _ arena: Arena) throws(BackhaulError) {
        value.maximum_attempts = try positive(maximumAttempts, "maximumAttempts")
        value.first_retry_delay_ms = try positive(firstRetryDelay, "firstRetryDelay")
        value.longest_retry_delay_ms = try positive(longestRetryDelay, "longestRetryDelay")
        value.retry_jitter_percent = try positive(retryJitter, "retryJitter")
        value.retry_errors = retryErrors?.rawValue ?? 0
        value.retries_unsafe_methods = choice(retriesUnsafeMethods)
        value.retry_statuses = try arena.optionalString(retryStatuses, "retryStatuses")
        value.accepted_statuses = try arena.optionalString(acceptedStatuses, "acceptedStatuses")
        value.request_timeout_ms = try positive(requestTimeout, "requestTimeout")
        value.resource_timeout_ms = try positive(resourceTimeout, "resourceTimeout")
        value.http_version = httpVersion?.rawValue ?? 0
        value.redirects = redirects?.rawValue ?? 0
        value.maximum_redirects = try positive(maximumRedirects, "maximumRedirects")
        value.maximum_size = maximumSize ?? 0
        value.bytes_per_second = bytesPerSecond ?? 0
        try constraints.fill(&value, arena)
    }
}

func choice(_ value: Bool?) -> Int32 { Int32(value.map { $0 ? BH_YES : BH_NO } ?? BH_DEFAULT) }

func choice(_ value: Int32) -> Bool? { Int(value) == BH_DEFAULT ? nil : Int(value) == BH_YES }
