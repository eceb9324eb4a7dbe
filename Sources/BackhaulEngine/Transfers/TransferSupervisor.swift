internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The runners of the running tasks. A runner is identified by its task and by the number of the attempt.
///
/// Each engine has one object of this type.
final class TransferSupervisor {
    /// The largest number of runners. Both running and finishing tasks have runners. If three file systems hang, and
    /// the largest number of downloads finishes on each of them, 256 further tasks can still run.
    private static let runnerLimit = 256 + 3 * DiskLoad.finishingLimit
    /// The largest number of entries in `neededSpace`. If a task is cancelled while it waits, its entry may stay there.
    private static let neededSpaceLimit = 4_096
    /// The space that is assumed when the size of a file is unknown, in bytes.
    private static let unknownSpace: UInt64 = 1 << 20

    private var runners: [TaskID: any TransferRunner] = [:]
    private var lastAttempt: UInt64 = 0
    private var disks = DiskLoad()
    /// For each task whose file system was full: how many bytes the task still has to write to the file.
    private var neededSpace: [TaskID: UInt64] = [:]
    /// The counts that are not all 0.
    private var repeats: [TaskID: RepeatCounts] = [:]

    subscript(_ task: TaskID) -> (any TransferRunner)? { runners[task] }

    /// The runner of this attempt; nil if the attempt does not run any more.
    subscript(_ attempt: RunningAttempt) -> (any TransferRunner)? {
        runners[attempt.task.id].flatMap { $0.attempt === attempt ? $0 : nil }
    }

    /// The task's runner; nil if this attempt does not run any more.
    private func runner(_ task: TaskID, _ attempt: UInt64) -> (any TransferRunner)? {
        runners[task].flatMap { $0.attempt.terms.number == attempt ? $0 : nil }
    }

    // MARK: Running tasks

    var all: Dictionary<TaskID, any TransferRunner>.Values { runners.values }

    var count: Int { runners.count }

    /// All runners, in the order of their tasks.
    private var inOrder: [any TransferRunner] { runners.sorted { $0.key < $1.key }.map(\.value) }

    var lanes: [LaneID] { runners.values.map(\.attempt.task.lane) }

    func isRunning(in lane: LaneID) -> Bool { runners.values.contains { $0.attempt.task.lane == lane } }

    func tasks(of session: SessionID) -> Set<TaskID> {
        Set(runners.values.filter { $0.attempt.task.session == session }.map(\.attempt.task.id))
    }

    func tasks(where isMeant: (StoredTask) -> Bool) -> [StoredTask] {
        runners.values.map(\.attempt.task).filter(isMeant).sorted { $0.id < $1.id }
    }

    /// The origins and starts of the tasks that have a slot.
    var starts: [(origin: Origin, start: Int64)] {
        runners.values.lazy.map(\.attempt).filter(\.holdsSlot).map { ($0.task.origin, $0.terms.began) }
    }

    func newAttempt() -> UInt64 {
        lastAttempt += 1
        return lastAttempt
    }

    func add(_ runner: any TransferRunner) { runners[runner.attempt.task.id] = runner }

    /// Removes and returns the runner; nil if the attempt does not run any more.
    func remove(_ attempt: RunningAttempt) -> (any TransferRunner)? {
        guard let runner = self[attempt] else { return nil }
        runners[attempt.task.id] = nil
        return runner
    }

    func removeAll() { runners = [:] }

    /// Whether the task writes to this part file, or may still give the kept file its name.
    func isInUse(_ file: Leftover) -> Bool {
        guard let task = runners[file.task]?.attempt.task else { return false }
        return file.kind == .kept || task.part == file.part
    }

    /// Whether no task that a condition has stopped still saves its bytes.
    var heldTasksAreSaved: Bool { runners.values.allSatisfy { $0.attempt.stopReason != .held } }

    /// Whether each task has synced its bytes, or has all bytes and is being finished.
    var areAllFinishing: Bool { runners.values.allSatisfy(\.isFinishing) }

    var bytesPerSecond: UInt64 { runners.values.reduce(0) { $0 &+ $1.attempt.exchange.rate.bytesPerSecond } }

    /// The bytes that each task has moved in the last second.
    func samples(where isMeant: (StoredTask) -> Bool) -> [Holds.Sample] {
        runners.values.filter { isMeant($0.attempt.task) }.map { runner in
            Holds.Sample(
                task: runner.attempt.task.id, key: LaneGroup(of: runner.attempt.task),
                bytes: runner.waitsForNetwork ? runner.attempt.exchange.rate.lastSecond : nil,
                began: runner.attempt.terms.began)
        }
    }

    // MARK: Inputs of running tasks

    /// Stops the least important task of this origin, in favour of a more important task. Nil means any origin.
    /// `sparesTasks`: whether an upload's extra part is stopped instead, if there is one.
    func preempt(at origin: Origin?, sparesTasks: Bool) -> [EngineEffect] {
        if sparesTasks, let effects = stopExtraPart(at: origin) { return effects }
        let candidates = runners.values.lazy.filter {
            $0.mayBePreempted && (origin == nil || $0.attempt.task.origin == origin)
        }
        guard let chosen = PreemptionPolicy.among(candidates.map(\.preemptionCandidate)) else { return [] }
        return runners[chosen]?.preempt() ?? []
    }

    private func stopExtraPart(at origin: Origin?) -> [EngineEffect]? {
        for case let runner as UploadRunner in inOrder.reversed()
        where origin == nil || runner.attempt.task.origin == origin {
            if let effects = runner.stopExtraPart() { return effects }
        }
        return nil
    }

    func tick() -> [EngineEffect] { inOrder.flatMap { $0.tick() } }

    func engineStops() -> [EngineEffect] { inOrder.flatMap { $0.stopForEngine() } }

    /// Stops a task that became held.
    func hold(_ task: TaskID, for reason: WaitReason) -> [EngineEffect] { runners[task]?.deferred(for: reason) ?? [] }

    func resume(_ tasks: [TaskID]) {
        for task in tasks.sorted() { runners[task]?.attempt.resumeTransfer() }
    }

    /// Cancels or stops the task, as a command demands. Returns nil if the task does not run.
    func stop(_ task: TaskID, _ event: RunnerEvent) -> [EngineEffect]? {
        runners[task].map { event == .cancel ? $0.cancel() : $0.take(event) }
    }

    /// The store has recorded the end of the attempt.
    func ended(_ ending: Ending) -> [EngineEffect] {
        runner(ending.end.task, ending.attempt)?.take(.concluded) ?? []
    }

    /// The store could not record the end of the attempt. The runner demands it again after a second.
    func notEnded(_ ending: Ending, _ failure: Failure) {
        guard let attempt = runner(ending.end.task, ending.attempt)?.attempt else { return }
        attempt.retryCommit(after: failure) { [unowned attempt] in attempt.emit(.rewriteEnd(ending)) }
    }

    // MARK: Changed options

    /// Changes running tasks. Returns those of the tasks that run.
    @discardableResult
    func change(_ tasks: some Sequence<TaskID>, _ change: (inout StoredTask) -> Void) -> [TaskID] {
        tasks.filter { task in
            runners[task]?.attempt.change(change)
            return runners[task] != nil
        }
    }

    /// Gives the tasks their new constraints. Returns the running tasks whose constraints have changed.
    func setConstraints(_ tasks: [TaskID: ConstraintsID]) -> [StoredTask] {
        tasks.sorted { $0.key < $1.key }.compactMap { id, constraints in
            guard let attempt = runners[id]?.attempt, attempt.task.constraints != constraints else { return nil }
            attempt.change { $0.constraints = constraints }
            return attempt.task
        }
    }

    // MARK: Memory

    /// The number of tasks that may still start.
    var availableCapacity: Int { disks.isFull ? 0 : max(0, Self.runnerLimit - runners.count) }

    func willWrite(_ count: Int, to device: UInt64) { disks.willWrite(count, to: device) }

    /// Notes written bytes. Returns true if tasks had to wait for a disk and may start again now.
    func wrote(_ count: Int, to device: UInt64) -> Bool {
        let wasFull = disks.isFull
        disks.wrote(count, to: device)
        return wasFull && availableCapacity > 0
    }

    /// Releases the slot of a task whose file the disk still has to finish, unless the disk has too much other work.
    func releaseSlotEarly(_ attempt: RunningAttempt) -> [EngineEffect] {
        (self[attempt] as? DownloadRunner)?.releaseSlotEarly(&disks) ?? []
    }

    func endFinishing(on device: UInt64) { disks.endFinishing(on: device) }

    // MARK: State of several attempts

    func neededSpace(of task: TaskID) -> UInt64? { neededSpace[task] }

    /// Notes a full file system. `missing`: how many bytes of the file are still missing; nil if its size is unknown.
    func recordFullFileSystem(_ task: TaskID, missing: UInt64?) {
        if neededSpace.count >= Self.neededSpaceLimit { neededSpace.removeAll() }
        neededSpace[task] = missing ?? neededSpace[task] ?? Self.unknownSpace
    }

    func forgetNeededSpace(of task: TaskID) { neededSpace[task] = nil }

    func repeats(of task: TaskID) -> RepeatCounts { repeats[task] ?? RepeatCounts() }

    func setRepeats(_ counts: RepeatCounts, of task: TaskID) {
        repeats[task] = counts == RepeatCounts() ? nil : counts
    }
}
