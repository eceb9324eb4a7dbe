internal import BackhaulModel
internal import BackhaulStore

/// What a daemon that ended at once has left in its log.
enum DaemonComplaint {
    /// The last error of this process, as the daemon's own failure.
    static func read(_ directory: StoreDirectory, process: Int32) -> Failure? {
        guard let end = directory.endOfFile("daemon.log", size: 16_384) else { return nil }
        return last(in: end, process: process)
    }

    /// Lines have the form "TIME PROCESS error STATUS: SENTENCE".
    static func last(in text: String, process: Int32) -> Failure? {
        for line in text.split(separator: "\n").reversed() {
            let fields = line.split(separator: " ", maxSplits: 4)
            guard fields.count == 5, fields[1] == "\(process)", fields[2] == "error", fields[3].hasSuffix(":"),
                let status = Int32(fields[3].dropLast()).flatMap(Status.init)
            else { continue }
            return Failure(status, String(fields[4]))
        }
        return nil
    }
}
