internal import BackhaulStore
internal import BackhaulPlatform

/// What a daemon that ended at once has left in its log.
enum DaemonComplaint {
    /// The last error of this process, without time and number.
    static func read(_ directory: StoreDirectory, process: Int32) -> String? {
        guard let end = directory.endOfFile("daemon.log", size: 16_384) else { return nil }
        return last(in: end, process: process)
    }

    static func last(in text: String, process: Int32) -> String? {
        for line in text.split(separator: "\n").reversed() {
            let fields = line.split(separator: " ", maxSplits: 3)
            if fields.count == 4, fields[1] == "\(process)", fields[2] == "error:" { return String(fields[3]) }
        }
        return nil
    }
}
