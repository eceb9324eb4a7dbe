internal import BackhaulModel
internal import BackhaulStore

/// Reads the error in the log of a daemon that ended right after its start. The error may be from another daemon of the
/// store. This is no problem, because daemons that fail at the same time fail for the same reason.
struct DaemonLogError {
    private static let log = "daemon.log"
    /// Nil if it could not be read. Then the errors in the log may be old.
    private let before: Int?

    /// Notes the present size of the log. It must be called before the daemon is started.
    init(_ directory: StoreDirectory) { before = Self.size(in: directory) }

    private static func size(in directory: StoreDirectory) -> Int? { try? directory.sizeOfFile(log) ?? 0 }

    /// The last error that was logged since `init`, as a failure; nil if there is none.
    func read(_ directory: StoreDirectory) -> Failure? {
        guard let before, let size = Self.size(in: directory) else { return nil }
        // If the log is shorter than before, a new log has replaced it.
        let new = size < before ? size : size - before
        guard new > 0, let text = directory.endOfFile(Self.log, size: min(new, 16_384)) else { return nil }
        return Self.last(in: text)
    }

    /// Lines have the form "TIME PROCESS error STATUS: SENTENCE".
    static func last(in text: String) -> Failure? {
        for line in text.split(separator: "\n").reversed() {
            let fields = line.split(separator: " ", maxSplits: 4)
            guard fields.count == 5, fields[2] == "error", fields[3].hasSuffix(":"),
                let status = Int32(fields[3].dropLast()).flatMap(Status.init)
            else { continue }
            return Failure(status, String(fields[4]))
        }
        return nil
    }
}
