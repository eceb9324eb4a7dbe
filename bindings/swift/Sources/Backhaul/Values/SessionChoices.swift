internal import CBackhaul

/// Where a session's cookies are kept (RFC 6265).
public enum CookiePolicy: Int32, Hashable, Sendable {
    case none = 1
    /// In the engine, until it exits.
    case memory = 2
    /// In the store; those without an expiry in the engine.
    case persistent = 3
}

/// Faults of servers that a session accepts.
public struct Tolerances: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ constant: Int) { rawValue = UInt32(constant) }

    /// A body that ends with its TLS connection is complete without close_notify (RFC 9112, section 9.8). Without this
    /// the task fails with `.tlsTruncated`, because an attacker can cut such a body.
    public static let missingCloseNotify = Tolerances(BH_TOLERATE_MISSING_CLOSE_NOTIFY)
    /// A successful response to an upload counts before its body was sent. Without this the whole body must be sent.
    public static let earlyResponse = Tolerances(BH_TOLERATE_EARLY_RESPONSE)
}

/// How many ended tasks a session keeps.
public enum HistoryLimit: Hashable, Sendable {
    /// No task, and attempts only until their task ends.
    case none
    /// At most 100,000.
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
