import BackhaulDisk
import Backhaul

/// Finds downloads of earlier commands whose files are still there. The engine finds a download by its key only until
/// the round ends: then all transfers of the session have ended, and their ends were acknowledged. The history has such
/// a download for longer.
enum FormerDownloads {
    /// - Returns: The earlier downloads that have the files of the transfers, by the positions of the transfers. A
    ///   download is left out if its file has changed, if a transfer replaces its file, if a later download has made
    ///   the file, or if the request could receive another file.
    static func find(
        _ transfers: [Transfer], _ session: Session, _ context: Context, _ application: Application
    ) throws(CommandError) -> [Int: TaskInfo] {
        var positions: [String: [Int]] = [:]
        for (position, transfer) in transfers.enumerated()
        where transfer.request.ifExists == .fail && transfer.isPlain {
            guard let destination = transfer.destination, let key = transfer.key else { continue }
            let first = Transfer.parts(ofKey: key).first
            if transfer.request.isNamedByServer || Paths.exists(destination) {
                positions[first, default: []].append(position)
            }
        }
        if positions.isEmpty { return [:] }
        // These requests find the earlier download by its key.
        for key in try DownloadList.unread(session).keys { positions[key] = nil }
        var found: [Int: TaskInfo] = [:]
        var lastOfPath: [String: TaskInfo] = [:]
        // The session of the command and its variants may have downloaded the same file.
        try context.forEachSession(application, role: .observe) { (session) throws(CommandError) in
            try session.forEachPageOfHistory { tasks in
                for task in tasks where task.state == .succeeded && !task.isUpload {
                    if let path = task.path ?? task.destination, task.isLater(than: lastOfPath[path]) {
                        lastOfPath[path] = task
                    }
                    let key = task.idempotencyKey.map { Transfer.parts(ofKey: $0).first } ?? ""
                    for position in positions[key] ?? [] where transfers[position].url == task.url {
                        if task.isLater(than: found[position]) { found[position] = task }
                    }
                }
            }
        }
        return found.filter { position, task in
            guard let path = task.path ?? task.destination, lastOfPath[path]?.id == task.id else { return false }
            return isUnchanged(task) && transfers[position].accepts(path)
        }
    }

    /// Whether the file of a task that has succeeded is as the task has left it.
    static func isUnchanged(_ task: TaskInfo) -> Bool {
        guard let path = task.path ?? task.destination, let file = Paths.file(path) else { return false }
        // Some file systems, such as FAT, store times with a precision of two seconds.
        let precision: Int64 = file.isTimeCoarse ? 2_000 : 0
        let ended = task.endedMilliseconds ?? 0
        guard file.size == task.size ?? task.offset, file.modified <= ended + precision else { return false }
        // If the task received no file, the file is older than the task. Otherwise, an older file was moved there.
        return task.source != nil || file.modified >= task.enqueuedMilliseconds - max(precision, clockTick)
    }

    /// The kernel gives a file the time of its last clock tick, which may be 10 milliseconds ago.
    private static let clockTick: Int64 = 10
}

extension TaskInfo {
    fileprivate func isLater(than other: TaskInfo?) -> Bool {
        guard let other else { return true }
        return (endedMilliseconds ?? 0, id) >= (other.endedMilliseconds ?? 0, other.id)
    }
}

extension Transfer {
    /// Whether the request has no method, header or body that could select another file. The history does not have
    /// these parts of a request, so they cannot be compared.
    fileprivate var isPlain: Bool {
        (request.method ?? "GET") == "GET" && request.headers.isEmpty && request.body == nil
    }

    /// Whether the file has the size and the checksum that the request demands.
    fileprivate func accepts(_ path: String) -> Bool {
        guard let size = Paths.file(path)?.size else { return false }
        if let expected = request.expectedSize, size != expected { return false }
        if let largest = request.policy?.rules.maximumSize, size > largest { return false }
        return request.checksum.map { FileDigest.matches($0.text, file: path) } ?? true
    }
}
