import Backhaul

/// How the transfers of one or more rounds have ended.
struct RoundResult {
    private(set) var downloads = 0
    private(set) var uploads = 0
    private(set) var failures = 0
    /// The file and the server of the last transfer that succeeded or failed.
    private(set) var place = ""
    /// The path of the last downloaded file.
    private(set) var path: String?
    private var failedPlace = ""

    /// Whether there is something to report. The user knows of the transfers that the user has cancelled.
    var isEmpty: Bool { downloads + uploads + failures == 0 }

    mutating func add(_ task: TaskInfo) {
        switch task.state {
        case .succeeded where task.isUpload: uploads += 1
        case .succeeded:
            downloads += 1
            path = task.path ?? path
        case .failed:
            failures += 1
            failedPlace = TransferName(task: task).place
        default: return
        }
        place = TransferName(task: task).place
    }

    mutating func add(_ other: RoundResult) {
        downloads += other.downloads
        uploads += other.uploads
        failures += other.failures
        if !other.isEmpty { place = other.place }
        if other.failures > 0 { failedPlace = other.failedPlace }
        path = other.path ?? path
    }

    /// The counts, such as "12 files downloaded, 1 transfer failed".
    var counts: String {
        var parts: [String] = []
        if downloads > 0 { parts.append(Text.count(downloads, "file") + " downloaded") }
        if uploads > 0 { parts.append(Text.count(uploads, "file") + " uploaded") }
        if failures > 0 { parts.append(Text.count(failures, "transfer") + " failed") }
        return parts.joined(separator: ", ")
    }

    /// The only file, or the one that failed last.
    var details: [String] {
        if downloads + uploads + failures == 1 { return [place] }
        return failures > 0 ? ["Failed" + (failures > 1 ? " last: " : ": ") + failedPlace] : []
    }
}
