internal import CBackhaul

/// Where a session's cookies are kept (RFC 6265).
public enum CookiePolicy: Int32, Hashable, Sendable {
    case none = 1
    /// In the engine's memory, until it exits.
    case memory = 2
    /// In the store; cookies without an expiry in the engine's memory.
    case persistent = 3
}

/// Violations by servers that a session tolerates.
public struct Tolerances: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ constant: Int) { rawValue = UInt32(constant) }

    /// A body that ends with its TLS connection is complete without close_notify (RFC 9112, section 9.8). Without this
    /// the task fails with `.tlsTruncated`, because an attacker can truncate the body.
    public static let missingCloseNotify = Tolerances(BH_TOLERATE_MISSING_CLOSE_NOTIFY)
    /// A successful response makes an upload succeed even if its body was not sent completely. Without this the whole
    /// body must be sent.
    public static let earlyResponse = Tolerances(BH_TOLERATE_EARLY_RESPONSE)
}

/// How many ended tasks a session keeps.
public enum HistoryLimit: Hashable, Sendable {
    /// No task, and attempts only until their task ends.
    case none
    /// The newest ended tasks, at most 100,000.
    case tasks(Int)
}

extension HistoryLimit {
    static func of(_ field: UInt32) -> HistoryLimit? {
        field == BH_HISTORY_NONE ? HistoryLimit.none : number(field).map { .tasks($0) }
    }

    func value() throws(BackhaulError) -> UInt32 {
        switch self {
        case .none: BH_HISTORY_NONE
        case .tasks(let count): try positive(count, "historyLimit")
        }
    }
}
