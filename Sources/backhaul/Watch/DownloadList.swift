import CBackhaul

/// Downloads that were handed over, and what was found of them.
///
/// The key of a transfer that has succeeded finds it until the round's end is acknowledged, that is as long as another
/// transfer of the session goes on. It stands for the new one when its file is there and was not to be replaced. Else
/// the download is handed over once more, under a key that names the former one: the same command finds it again.
struct DownloadList {
    /// Those that go on, or whose end is still to be read.
    private(set) var enqueued: [UInt64: Transfer] = [:]
    /// Downloads that had ended before, and whose events do not come again.
    private(set) var former: [Ending] = []
    /// By the position of the transfer.
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

    /// The task after which the same download was handed over once more, if that one's end is still to be read.
    private static func later(_ transfer: Transfer, _ unread: [String: UInt64?]) -> UInt64? {
        guard let key = transfer.key, let former = unread[Transfer.parts(ofKey: key).first] else { return nil }
        return former == transfer.former ? nil : former
    }

    /// Downloads that go on or have succeeded, and whose end is still to be read: by the first key of their row, the
    /// task that they come after. Running ones count: their file may be in place before their row has its end.
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

    /// What the found transfer says for the one that was asked for now. Nil: nothing.
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
