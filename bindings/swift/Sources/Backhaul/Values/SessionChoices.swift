internal import CBackhaul

/// Where a session's cookies are kept (RFC 6265).
public enum CookiePolicy: Int32, Hashable, Sendable {
    case none = 1
    /// The cookies are kept in the engine's memory, until it exits.
    case memory = 2
    /// The cookies are kept in the store. Those without an expiry are kept in the engine's memory.
    case persistent = 3
}

/// Faults of servers that a session accepts.
public struct Tolerances: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ constant: Int) { rawValue = UInt32(constant) }

    /// A body that ends with its TLS connection counts as complete even without close_notify (RFC 9112, section 9.8).
    /// Without this member the task fails with `.tlsTruncated`, because an attacker can truncate the body.
    public static let missingCloseNotify = Tolerances(BH_TOLERATE_MISSING_CLOSE_NOTIFY)
    /// A successful response makes an upload succeed even if its body was not sent completely. Without this member, the
    /// whole body must be sent.
    public static let earlyResponse = Tolerances(BH_TOLERATE_EARLY_RESPONSE)
}

/// How many ended tasks a session keeps.
public enum HistoryLimit: Hashable, Sendable {
    /// The session keeps no ended task. Attempts are kept only until their task ends.
    case none
    /// The session keeps this number of ended tasks, at most 100,000: the newest ones.
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
