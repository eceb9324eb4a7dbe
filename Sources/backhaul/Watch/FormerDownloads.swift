import BackhaulDisk
import CBackhaul

/// Finds downloads of earlier commands whose files are still there. The engine (the process that runs the transfers)
/// finds a download by its key only until the round ends: then all transfers of the session have ended, and their ends
/// were acknowledged. The history (the list of ended transfers) has such a download for longer.
enum FormerDownloads {
    /// - Returns: The earlier downloads that have the files of the transfers, by the positions of the transfers. A
    ///   download is left out if its file has changed, if a transfer replaces its file, if a later download has made
    ///   the file, or if the request could receive another file.
    static func find(
        _ transfers: [Transfer], _ session: Session, _ context: Context, _ application: Application
    ) throws(CommandError) -> [Int: TaskRecord] {
        var positions: [String: [Int]] = [:]
        for (position, transfer) in transfers.enumerated()
        where transfer.ifExists == BH_IF_EXISTS_FAIL && transfer.isPlain {
            guard let destination = transfer.destination, let key = transfer.key else { continue }
            let first = Transfer.parts(ofKey: key).first
            if transfer.isNamedByServer || Paths.exists(destination) { positions[first, default: []].append(position) }
        }
        if positions.isEmpty { return [:] }
        // These requests find the earlier download by its key.
        for key in try DownloadList.unread(session).keys { positions[key] = nil }
        var found: [Int: TaskRecord] = [:]
        var lastOfPath: [String: TaskRecord] = [:]
        // The session of the command and its variants may have downloaded the same file.
        try context.forEachSession(application, role: BH_ROLE_OBSERVE) { (session) throws(CommandError) in
            try session.forEachPageOfHistory { tasks in
                for task in tasks where Int(task.state) == BH_TASK_SUCCEEDED && !task.isUpload {
                    if let path = task.path ?? task.destination, task.isLater(than: lastOfPath[path]) {
                        lastOfPath[path] = task
                    }
                    let key = task.key.map { Transfer.parts(ofKey: $0).first } ?? ""
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
    static func isUnchanged(_ task: TaskRecord) -> Bool {
        guard let path = task.path ?? task.destination, let file = Paths.file(path) else { return false }
        // Some file systems, such as FAT, store times with a precision of two seconds.
        let precision: Int64 = file.isTimeCoarse ? 2_000 : 0
        guard file.size == task.size ?? task.offset, file.modified <= task.ended + precision else { return false }
        // If the task received no file, the file is older than the task. Otherwise, an older file was moved there.
        return task.source != nil || file.modified >= task.enqueued - precision
    }
}

extension TaskRecord {
    fileprivate func isLater(than other: TaskRecord?) -> Bool {
        guard let other else { return true }
        return (ended, id) >= (other.ended, other.id)
    }
}

extension Transfer {
    /// Whether the request has no method, header or body that could select another file. The history does not have
    /// these parts of a request, so they cannot be compared.
    fileprivate var isPlain: Bool { (method ?? "GET") == "GET" && headers.isEmpty && body == nil }

    /// Whether the file has the size and the checksum that the request demands.
    fileprivate func accepts(_ path: String) -> Bool {
        guard let size = Paths.file(path)?.size else { return false }
        if expectedSize > 0 && size != expectedSize { return false }
        if let largest = policy?.largest, largest > 0, size > largest { return false }
        return checksum.map { FileDigest.matches($0, file: path) } ?? true
    }
}
