internal import CBackhaul

/// The kinds of errors after which the engine starts a further attempt, which is a run of the task. The empty set means
/// that no error is retried.
public struct RetryErrors: OptionSet, Hashable, Sendable {
    /// The errors as bits, as in the C header.
    public let rawValue: UInt32
    /// Makes a set of bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ constant: Int) { rawValue = UInt32(constant) }

    /// The status `.nameNotResolved`.
    public static let name = RetryErrors(BH_RETRY_NAME)
    /// The status `.connectionFailed`.
    public static let connection = RetryErrors(BH_RETRY_CONNECTION)
    /// The statuses `.connectionLost` and `.tlsTruncated`.
    public static let lost = RetryErrors(BH_RETRY_LOST)
    /// The status `.requestTimeout`.
    public static let timeout = RetryErrors(BH_RETRY_TIMEOUT)
    /// The status `.tlsFailed`, if the TLS handshake broke. If a certificate cannot be verified, the attempt is never
    /// retried.
    public static let tls = RetryErrors(BH_RETRY_TLS)
    /// A response whose status is in `RetryPolicy.statuses`.
    public static let status = RetryErrors(BH_RETRY_STATUS)
    /// The status `.badResponse`.
    public static let badResponse = RetryErrors(BH_RETRY_BAD_RESPONSE)
}

extension RetryErrors {
    static func of(_ field: UInt32) -> RetryErrors? {
        nonzero(field).map { $0 == UInt32(BH_RETRY_NONE) ? [] : RetryErrors(rawValue: $0) }
    }

    /// The set in C, where 0 means the default.
    var value: UInt32 { isEmpty ? UInt32(BH_RETRY_NONE) : rawValue }
}
