@testable import BackhaulFleet

/// The row of one task, and the leases of two workers: what the statements of `WorkerQueue` read and change, without a
/// database. `StatementTests` shows that the database does the same.
struct TaskModel: Hashable {
    enum Wish: Int8, CaseIterable { case none, cancel, suspend }

    var state = FleetTaskState.queued
    var run: Int8 = 0
    var worker: Int8?
    var wanted = Wish.none
    /// The run that has decided the end. The file of each run has an inode of its own, so this also names the file.
    var publishingRun: Int8?
    var ends: Int8 = 0
    private(set) var leases: UInt8 = 0
    /// Whether the statements forget to compare the run and the worker. The database never does.
    var acceptsOldRuns = false

    var hasEnded: Bool { state.rawValue >= FleetTaskState.succeeded.rawValue }

    func hasLease(_ worker: Int8) -> Bool { leases & 1 << worker != 0 }

    mutating func setLease(_ worker: Int8, _ isValid: Bool) {
        leases = isValid ? leases | 1 << worker : leases & ~(1 << worker)
    }

    private func isOwn(_ run: Int8, _ worker: Int8) -> Bool {
        (acceptsOldRuns || self.run == run && self.worker == worker) && (state == .running || state == .publishing)
    }

    /// Returns the new run; nil if the task is not in the queue.
    mutating func claim(by worker: Int8) -> Int8? {
        guard state == .queued else { return nil }
        (state, run, wanted) = (.running, run + 1, .none)
        self.worker = worker
        return run
    }

    mutating func publish(_ run: Int8, by worker: Int8) -> Bool {
        guard isOwn(run, worker) else { return false }
        state = .publishing
        publishingRun = run
        return true
    }

    @discardableResult
    mutating func end(_ run: Int8, _ end: FleetTaskState, by worker: Int8) -> Bool {
        guard isOwn(run, worker) else { return false }
        finish(end)
        return true
    }

    private mutating func finish(_ end: FleetTaskState) {
        (state, wanted, ends) = (end, .none, ends + 1)
        worker = nil
    }

    mutating func putBack(_ run: Int8, by worker: Int8) {
        guard isOwn(run, worker) else { return }
        publishingRun = nil
        release()
    }

    private mutating func release() {
        if wanted == .cancel { return finish(.cancelled) }
        (state, wanted) = (wanted == .suspend ? .suspended : .queued, .none)
        worker = nil
    }

    mutating func releaseExpired() {
        guard state == .running, let worker, !hasLease(worker) else { return }
        release()
    }

    /// Returns the new run; nil if there is nothing to take over.
    mutating func takeOver(by worker: Int8) -> Int8? {
        guard state == .publishing, let owner = self.worker, owner != worker, !hasLease(owner) else { return nil }
        run += 1
        self.worker = worker
        return run
    }

    /// The host cancels the task.
    mutating func cancel() {
        switch state {
        case .queued, .suspended: finish(.cancelled)
        case .running: wanted = .cancel
        default: break
        }
    }
}
