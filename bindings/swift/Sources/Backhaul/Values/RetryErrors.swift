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
    /// `.tlsFailed` because of a broken handshake, but never because of a certificate that does not verify.
    public static let tls = RetryErrors(BH_RETRY_TLS)
    /// A response whose status is in `RetryPolicy.statuses`.
    public static let status = RetryErrors(BH_RETRY_STATUS)
    /// `.badResponse`.
    public static let badResponse = RetryErrors(BH_RETRY_BAD_RESPONSE)
    /// No errors; not to be combined with others. An empty set is the default.
    public static let none = RetryErrors(BH_RETRY_NONE)
}
