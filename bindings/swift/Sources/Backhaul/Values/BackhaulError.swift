internal import CBackhaul

/// The error of a call, or the reason why a task failed.
public struct BackhaulError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of the number in `detail`.
    public enum Domain: Int32, Hashable, Sendable {
        /// No number of another system. `detail` is 0, or a number that the status explains, such as the number of
        /// events for `Status.eventsOutstanding`.
        case noDetail = 0
        /// An errno.
        case system = 1
        /// A CURLcode.
        case curl = 2
        /// An extended result code of SQLite.
        case sqlite = 3
        /// A status code of HTTP.
        case http = 4
        /// The id of a process: of the session's consumer for `Status.inUse`; otherwise of the engine, or of the daemon
        /// that was started. `detail` is 0 if the process is not known.
        case process = 5
    }

    /// What went wrong, as a constant.
    public let status: Status
    /// The kind of the number in `detail`. `.noDetail` if the kind is from a newer version of the library.
    public let domain: Domain
    /// A number that describes the error more precisely. 0 if there is no such number. `domain` states the kind of the
    /// number.
    public let detail: Int64
    /// The index of the first invalid item of an array argument. Nil if no item was invalid.
    public let index: Int?
    /// One sentence that says what was wrong, and what to do. It has the names of this package.
    public let message: String

    /// The message and the name of the status.
    public var description: String { "\(message) (\(status.name))" }

    init(_ status: Int, domain: Int32 = 0, detail: Int64 = 0, index: Int? = nil, message: String? = nil) {
        self.status = Status(rawValue: Int32(truncatingIfNeeded: status))
        self.domain = Domain(rawValue: domain) ?? .noDetail
        self.detail = detail
        self.index = index
        self.message = message.map { withSwiftNames($0) } ?? self.status.text
    }

    package init(_ status: Status, message: String, detail: Int64 = 0) {
        self.init(Int(status.rawValue), detail: detail, message: message)
    }

    /// The same error with another message.
    package func withMessage(_ message: String) -> BackhaulError {
        BackhaulError(
            Int(status.rawValue), domain: domain.rawValue, detail: detail, index: index, message: message)
    }

    static func unknownTask(_ id: TaskID) -> BackhaulError {
        BackhaulError(.notFound, message: "neither the session's list of tasks nor its history has task \(id)")
    }

    static let closed = BackhaulError(BH_INVALID_HANDLE, message: "the application or session is closed; open it again")
}
