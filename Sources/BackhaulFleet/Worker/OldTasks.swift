internal import BackhaulPlatform

/// Removes tasks that ended long ago, a batch at a time. All workers together remove some thousands each second.
struct OldTasks {
    /// The last of the ended tasks that this worker has removed, or has kept because of their events.
    private var position = WorkerQueue.EndPosition()
    private var due = Deadline.after(milliseconds: 0)

    mutating func removeDue(_ queue: WorkerQueue, workers: Int64) throws(FleetError) {
        guard due.hasPassed else { return }
        due = .after(milliseconds: max(2_000, 20 * workers))
        position = try queue.removeOld(after: position)
    }
}
