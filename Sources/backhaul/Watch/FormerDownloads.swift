import CBackhaul

/// Finds downloads of earlier commands whose files are still there. The engine (the process that runs the transfers)
/// finds a download by its key only until the round ends: then all transfers of the session have ended, and their ends
/// were acknowledged. The history (the list of ended transfers) has such a download for longer.
enum FormerDownloads {
    /// - Returns: The earlier downloads with the same URL and file, by the positions of the transfers. A download whose
    ///   file has changed, or that a transfer replaces, is left out.
    static func find(
        _ transfers: [Transfer], _ session: Session, _ context: Context, _ application: Application
    ) throws(CommandError) -> [Int: TaskRecord] {
        var positions: [String: [Int]] = [:]
        for (position, transfer) in transfers.enumerated() where transfer.ifExists == BH_IF_EXISTS_FAIL {
            guard let destination = transfer.destination, let key = transfer.key else { continue }
            if transfer.isNamedByServer || Paths.exists(destination) { positions[key, default: []].append(position) }
        }
        if positions.isEmpty { return [:] }
        // These requests find the earlier download by its key.
        for key in try DownloadList.unread(session).keys { positions[key] = nil }
        var found: [Int: TaskRecord] = [:]
        // The session of the command and its variants may have downloaded the same file.
        try context.forEachSession(application, role: BH_ROLE_OBSERVE) { (session) throws(CommandError) in
            try session.forEachPageOfHistory { tasks in
                for task in tasks where Int(task.state) == BH_TASK_SUCCEEDED {
                    let key = task.key.map { Transfer.parts(ofKey: $0).first } ?? ""
                    for position in positions[key] ?? [] where transfers[position].url == task.url {
                        if found[position].map({ $0.ended <= task.ended }) != false { found[position] = task }
                    }
                }
            }
        }
        return found.filter { isUnchanged($0.value) }
    }

    /// Whether the file of a task that has succeeded is as the task has left it.
    static func isUnchanged(_ task: TaskRecord) -> Bool {
        // Some file systems, such as FAT, store times with a precision of two seconds.
        let precision: Int64 = 2_000
        guard let path = task.path ?? task.destination, let file = Paths.file(path) else { return false }
        return file.size == task.size ?? task.offset && file.modified <= task.ended + precision
    }
}
