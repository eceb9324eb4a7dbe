/// Whose limit of bytes per second makes a task wait.
public enum RateLimitOwner: String, CaseIterable, Sendable {
    case task = "the transfer's own rate limit of"
    case session = "its share of the session's rate limit of"
    case engine = "its share of the store's rate limit of"

    /// The owner that a sentence names. `sentence(_:)` has made the sentence.
    public init?(in sentence: String) {
        guard let owner = RateLimitOwner.allCases.first(where: { sentence.hasPrefix($0.rawValue) }) else { return nil }
        self = owner
    }

    /// The sentence about a wait for this limit.
    public func sentence(_ bytesPerSecond: UInt64) -> String {
        "\(rawValue) \(QuantityFormatter.rate(bytesPerSecond)) is used up for the moment"
    }
}
