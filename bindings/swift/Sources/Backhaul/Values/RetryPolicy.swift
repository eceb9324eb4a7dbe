internal import CBackhaul

/// Which errors are retried.
public struct RetryErrors: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ constant: Int) { rawValue = UInt32(constant) }

    /// `.nameNotResolved`.
    public static let name = RetryErrors(BH_RETRY_NAME)
    /// `.connectionFailed`.
    public static let connection = RetryErrors(BH_RETRY_CONNECTION)
    /// `.connectionLost` and `.tlsTruncated`.
    public static let lost = RetryErrors(BH_RETRY_LOST)
    /// `.requestTimeout`.
    public static let timeout = RetryErrors(BH_RETRY_TIMEOUT)
    /// A broken handshake, but never a certificate that does not verify.
    public static let tls = RetryErrors(BH_RETRY_TLS)
    /// A response whose status is in `RetryPolicy.statuses`.
    public static let status = RetryErrors(BH_RETRY_STATUS)
    /// `.badResponse`.
    public static let badResponse = RetryErrors(BH_RETRY_BAD_RESPONSE)
    /// None of them; not to be combined. An empty set stands for the default.
    public static let none = RetryErrors(BH_RETRY_NONE)
}

/// When a failed attempt is repeated. Nil stands for the default: of a request, what its session says.
public struct RetryPolicy: Hashable, Sendable {
    /// Attempts in a row without new durable bytes. Default: no limit but the resource time-out.
    public var maximumAttempts: Int?
    /// Default 1 second. It doubles with each attempt.
    public var firstDelay: Duration?
    /// Default 10 minutes.
    public var longestDelay: Duration?
    /// The random part of each delay: 1 to 100. Default 50.
    public var jitterPercent: Int?
    /// Empty: the default, all but `.badResponse`.
    public var errors: RetryErrors = []
    /// True: requests whose method is not idempotent (POST, PATCH; RFC 9110, section 9.2.2) are repeated although a
    /// server may have acted on them. Default false: only when no server has.
    public var unsafeMethods: Bool?
    /// Default "408,425,429,500,502-504".
    public var statuses: String?

    public init() {}

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ value: bh_retry_policy) {
        maximumAttempts = number(value.maximum_attempts)
        firstDelay = duration(value.first_delay_ms)
        longestDelay = duration(value.longest_delay_ms)
        jitterPercent = number(value.jitter_percent)
        errors = RetryErrors(rawValue: value.errors)
        unsafeMethods = choice(value.unsafe_methods)
        statuses = text(value.statuses)
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_retry_policy {
        var value = bh_retry_policy()
        value.maximum_attempts = try positive(maximumAttempts, "maximumAttempts")
        value.first_delay_ms = try positive(firstDelay, "firstDelay")
        value.longest_delay_ms = try positive(longestDelay, "longestDelay")
        value.jitter_percent = try positive(jitterPercent, "jitterPercent")
        value.errors = errors.rawValue
        value.unsafe_methods = choice(unsafeMethods)
        value.statuses = try arena.optionalString(statuses, "statuses")
        return value
    }
}
