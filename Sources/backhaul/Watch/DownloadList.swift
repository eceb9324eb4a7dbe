import CBackhaul

/// The downloads of a command, enqueued or found.
///
/// A request's key finds a succeeded task until the end of the round is acknowledged, which is later while another
/// transfer of the session runs. If the task's file exists and is not to be replaced, the found task counts as the new
/// one. Otherwise the download is enqueued again, with a key that includes the former task's number, by which the same
/// command finds it again.
struct DownloadList {
    /// The downloads that have not ended, or whose end is not acknowledged.
    private(set) var enqueued: [UInt64: Transfer] = [:]
    /// The downloads that had ended before, and whose events were acknowledged.
    private(set) var former: [Ending] = []
    /// The result for each transfer, in the order of the transfers.
    private(set) var results: [EnqueueResult]

    func isSuspended(_ task: UInt64) -> Bool {
        results.contains { $0.taskID == task && $0.state.map(Int.init) == BH_TASK_SUSPENDED }
    }

    init(_ transfers: [Transfer], _ session: Session) throws(CommandError) {
        var transfers = transfers
        results = try session.enqueue(transfers)
        var positions = Array(results.indices)
        while true {
            var again: [Int] = []
            let isAnyAcknowledged = positions.contains { results[$0].isAcknowledged }
            let unread = isAnyAcknowledged ? try DownloadList.unread(session) : [:]
            for position in positions {
                let (transfer, result) = (transfers[position], results[position])
                if !result.hasEnded {
                    enqueued[result.taskID] = enqueued[result.taskID] ?? transfer
                } else if result.isAcknowledged, let later = DownloadList.later(transfer, unread) {
                    transfers[position].former = later
                    again.append(position)
                } else if let ending = try DownloadList.ending(of: result, transfer, session) {
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

    /// The former task in the key of a repeated download to the same file, if that download's end is not acknowledged.
    private static func later(_ transfer: Transfer, _ unread: [String: UInt64?]) -> UInt64? {
        guard let key = transfer.key, let former = unread[Transfer.parts(ofKey: key).first] else { return nil }
        return former == transfer.former ? nil : former
    }

    /// The downloads that have not ended, or have succeeded without being acknowledged: for the first key of each, the
    /// task that it follows. Running downloads count, because the file is placed before the store records the end.
    static func unread(_ session: Session) throws(CommandError) -> [String: UInt64?] {
        var unread: [String: UInt64?] = [:]
        var cursor: UInt64 = 0
        let states = [BH_TASK_WAITING, BH_TASK_RUNNING, BH_TASK_SUSPENDED, BH_TASK_SUCCEEDED]
        while true {
            let (tasks, more) = try session.tasks(TaskSelection(states: states), after: cursor)
            for key in tasks.compactMap(\.key) {
                let (first, former) = Transfer.parts(ofKey: key)
                unread[first] = .some(former)
            }
            cursor = tasks.last?.id ?? cursor
            if !more { return unread }
        }
    }

    /// The end of a found task that counts as the requested transfer. Nil: the transfer must be enqueued again.
    private static func ending(
        of found: EnqueueResult, _ transfer: Transfer, _ session: Session
    ) throws(CommandError) -> Ending? {
        guard found.hasSucceeded, !transfer.replaces else { return nil }
        let task = try found.isAcknowledged
            ? session.history(after: found.taskID - 1, maximum: 1).tasks.first { $0.id == found.taskID }
            : session.tasks(TaskSelection(ids: [found.taskID]), maximum: 1).tasks.first
        let path = task?.path ?? (transfer.isNamedByServer ? nil : transfer.destination)
        guard let path, let size = Paths.sizeOfFile(path, changedSince: nil) else { return nil }
        if let whole = task?.size, whole != size { return nil }
        return task.map { Ending($0) } ?? Ending(former: found.taskID, transfer, path: path, size: size)
    }
}
