internal import CBackhaul

/// Where a session's cookies are kept (RFC 6265).
public enum CookiePolicy: Int32, Hashable, Sendable {
    /// No cookies are kept or sent.
    case never = 1
    /// The cookies are kept in the memory of the engine until the engine exits.
    case memory = 2
    /// The cookies are kept in the store. Cookies without an expiry time are kept only in the engine's memory.
    case persistent = 3
}

/// Server faults that a session accepts.
public struct Tolerances: OptionSet, Hashable, Sendable {
    /// The tolerances as bits, as in the C header.
    public let rawValue: UInt32
    /// Makes a set of bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ constant: Int) { rawValue = UInt32(constant) }

    /// Some bodies end at the end of the TLS connection. With this member, such a body counts as complete even if the
    /// server sent no close_notify (RFC 9112, section 9.8). Without this member, the task then fails with
    /// `.tlsTruncated`, because an attacker may have truncated the body.
    public static let missingCloseNotify = Tolerances(BH_TOLERATE_MISSING_CLOSE_NOTIFY)
    /// If the server sends a successful response before the whole body of an upload is sent, the upload succeeds.
    /// Without this member, the whole body must be sent.
    public static let earlyResponse = Tolerances(BH_TOLERATE_EARLY_RESPONSE)
}

/// How many ended tasks a session keeps.
public enum HistoryLimit: Hashable, Sendable {
    /// The session keeps no ended task. The records of a task's attempts are kept only until the host acknowledges the
    /// event about the task's end.
    case noTasks
    /// The session keeps the tasks that ended last, up to this number. The number is at most 100,000.
    case tasks(Int)
}

extension HistoryLimit {
    static func of(_ field: UInt32) -> HistoryLimit? {
        field == BH_HISTORY_NONE ? .noTasks : number(field).map { .tasks($0) }
    }

    func value() throws(BackhaulError) -> UInt32 {
        switch self {
        case .noTasks: BH_HISTORY_NONE
        case .tasks(let count): try positive(count, "historyLimit")
        }
    }
}
