import Backhaul

/// The downloads of a command. Each one is a new task, or a task that an earlier command enqueued.
///
/// Each download has an *idempotency key*, a text by which the engine finds an earlier task for the same file. A
/// *round* is a period in which a session has unfinished tasks. It begins with the first task, and ends when all tasks
/// have ended. Until the events about the end of the round are acknowledged, a request finds an earlier task with the
/// same key. An ended task counts as the requested download if three conditions are met: the task has succeeded, its
/// file still exists, and the command does not replace files. Otherwise the download is enqueued again, with a new key
/// that includes the id of the ended task. With this key, the same command later finds the new download.
struct DownloadList {
    /// The downloads that have not ended, or whose end event is not acknowledged.
    private(set) var enqueued: [TaskID: Transfer] = [:]
    /// The downloads that ended before this command, and whose end events were acknowledged.
    private(set) var former: [Ending] = []
    /// The result of each transfer's enqueue, in the order of the transfers. Nil if the transfer's URL is an invalid
    /// line of a list.
    private(set) var results: [Enqueued?]

    var hasInvalidLine: Bool { results.contains { $0 == nil } }

    /// Notes which transfers were found in place of new ones, if they are suspended, or if the command has options that
    /// a found transfer does not take.
    func noteFound(_ context: Context) {
        for case let found? in results where !found.isNew {
            let id = found.taskID
            guard let transfer = enqueued[id] else { continue }
            if found.state == .suspended {
                context.output.note(
                    "Transfer \(id) is suspended; it continues after: \(context.command("resume", "\(id)"))")
            }
            if let sentence = transfer.keptOptions(id, context) { context.output.note(sentence) }
        }
    }

    init(
        _ transfers: [Transfer], _ session: Session, _ context: Context, _ application: Application
    ) throws(CommandError) {
        var transfers = transfers
        let unchanged = try FormerDownloads.find(transfers, session, context, application)
        former = unchanged.sorted { $0.key < $1.key }.map { Ending($0.value) }
        results = transfers.indices.map { Enqueued(former: unchanged[$0]?.id ?? TaskID(rawValue: 0)) }
        var positions = transfers.indices.filter { unchanged[$0] == nil }
        let first = try session.enqueue(positions.map { transfers[$0] }, skip: context.output.skippedLine)
        for (position, result) in zip(positions, first) { results[position] = result }
        positions.removeAll { results[$0] == nil }
        while true {
            var again: [Int] = []
            let isAnyAcknowledged = positions.contains { results[$0]?.isAcknowledged == true }
            let unread = isAnyAcknowledged ? try DownloadList.unread(session) : [:]
            for position in positions {
                guard let result = results[position] else { continue }
                let transfer = transfers[position]
                if !result.hasEnded {
                    enqueued[result.taskID] = enqueued[result.taskID] ?? transfer
                } else if result.isAcknowledged, let later = DownloadList.later(transfer, unread) {
                    transfers[position].former = later
                    again.append(position)
                } else if let ending = try DownloadList.ending(
                    of: result, transfer, session, context, application)
                {
                    if result.isAcknowledged { former.append(ending) } else { enqueued[result.taskID] = transfer }
                } else {
                    transfers[position].former = result.taskID
                    again.append(position)
                }
            }
            if again.isEmpty { return }
            for (position, result) in zip(again, try session.enqueue(again.map { transfers[$0] })) {
                results[position] = result
            }
            positions = again
        }
    }

    /// Finds a later download to the file of the transfer, if that download is in `unread`. Returns the task id that is
    /// in the key of the later download. If the caller sets the transfer's `former` to this id, the transfer gets the
    /// same key as the later download.
    private static func later(_ transfer: Transfer, _ unread: [String: TaskID?]) -> TaskID? {
        guard let key = transfer.key, let former = unread[Transfer.parts(ofKey: key).first] else { return nil }
        return former == transfer.former ? nil : former
    }

    /// Finds the downloads that have not ended, or whose success is not acknowledged. The result is a dictionary with
    /// one entry for each file. It maps the key of the file's first download to the task id in the key of the file's
    /// last download (`Transfer.former`). The id is nil if the key of the last download has no task id. The result
    /// includes running downloads, because their files may already be complete: a file gets its final name before the
    /// store records the end of the download.
    static func unread(_ session: Session) throws(CommandError) -> [String: TaskID?] {
        var unread: [String: TaskID?] = [:]
        try session.forEachPage(.states(TaskSelection.live.union([.succeeded]))) { tasks in
            for key in tasks.compactMap(\.idempotencyKey) {
                let (first, former) = Transfer.parts(ofKey: key)
                unread[first] = .some(former)
            }
            return true
        }
        return unread
    }

    /// The result of an earlier task, if that task counts as the requested transfer. Nil if the transfer must be
    /// enqueued again.
    private static func ending(
        of found: Enqueued, _ transfer: Transfer, _ session: Session, _ context: Context,
        _ application: Application
    ) throws(CommandError) -> Ending? {
        guard found.state == .succeeded, !transfer.replaces else { return nil }
        if !found.isAcknowledged,
            let task = try session.tasks(.ids(found.taskID), maximum: 1).first
        {
            // The engine has compared the two requests.
            return FormerDownloads.isUnchanged(task) ? Ending(task) : nil
        }
        return try FormerDownloads.find([transfer], session, context, application)[0].map { Ending($0) }
    }
}
