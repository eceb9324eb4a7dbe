/// A line in the log of a daemon, the process that runs transfers for other programs. The text has no control
/// characters, even if a name or path in the text had such characters. The text has no passwords and no queries of
/// URLs, because queries may contain tokens. The length of the text is bounded.
public struct LogEntry: Equatable, Sendable {
    /// The levels of syslog(3), with their numbers.
    public enum Level: Int32, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
    }

    public static let maximumMessageSize = 1_000

    public let level: Level
    public let message: String
    /// The status of the `Failure` that the entry reports. Hosts get the same status. Nil if the entry was made from a
    /// text instead of a `Failure`.
    public let status: Status?

    public init(_ level: Level, _ message: String) {
        self.level = level
        self.message = LogEntry.clean(message)
        status = nil
    }

    public init(_ failure: Failure) {
        level = .error
        message = LogEntry.clean(failure.message)
        status = failure.status
    }

    /// The level, and the number of the status in include/backhaul.h, such as "error 23".
    public var label: String { status.map { "\(level) \($0.rawValue)" } ?? "\(level)" }

    private static func clean(_ message: String) -> String {
        var cleaned = ""
        var size = 0
        for scalar in ShownURL.withoutQueries(message).unicodeScalars {
            size += UTF8.width(scalar)
            if size > maximumMessageSize { return cleaned + "…" }
            cleaned.unicodeScalars.append(isPlain(scalar) ? scalar : "?")
        }
        return cleaned
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Format characters are replaced, because some of them change the direction in which a line is shown.
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
        default: true
        }
    }
}
