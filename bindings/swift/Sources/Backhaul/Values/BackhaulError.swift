internal import CBackhaul

/// The error of a call, or the reason why a task failed.
public struct BackhaulError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the number in `detail` is.
    public enum Domain: Int32, Hashable, Sendable {
        case none = 0
        /// errno
        case system = 1
        /// CURLcode
        case curl = 2
        /// extended SQLite result code
        case sqlite = 3
        /// HTTP status code
        case http = 4
        /// process id, for `Status.inUse` and `Status.engineUnresponsive`
        case process = 5
    }

    public let status: Status
    /// What `detail` is. A domain that only a newer version of the library has is `.none`.
    public let domain: Domain
    /// A number of the domain, or 0.
    public let detail: Int64
    /// The number of the first wrong item of an array argument; nil if no item was wrong.
    public let index: Int?
    /// One sentence that says what was wrong, and what to do.
    public let message: String

    public var description: String { "\(message) (\(status.name))" }

    init(_ status: Int, domain: Int32 = 0, detail: Int64 = 0, index: Int? = nil, message: String? = nil) {
        self.status = Status(rawValue: Int32(truncatingIfNeeded: status))
        self.domain = Domain(rawValue: domain) ?? .none
        self.detail = detail
        self.index = index
        self.message = message ?? self.status.text
    }

    package init(_ status: Status, message: String) { self.init(Int(status.rawValue), message: message) }

    static let closed = BackhaulError(BH_INVALID_HANDLE, message: "The application or session was closed.")
}
