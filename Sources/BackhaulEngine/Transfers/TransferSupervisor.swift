internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The running tasks (downloads and uploads). For each running task, there is one runner, which is the object that
/// performs the task. A runner is identified by its task and by the number of the attempt, which is one run of the
/// task.
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

    private(set) var runners: [TaskID: any TransferRunner] = [:]
    private var lastAttempt: UInt64 = 0
    private(set) var disks = DiskLoad()
    /// For each task whose file system was full: how many bytes the task still has to write to the file.
    private var neededSpace: [TaskID: UInt64] = [:]
    /// How many times in a row a task was repeated immediately.
    private var immediateRepeats: [TaskID: UInt32] = [:]

    subscript(_ task: TaskID) -> (any TransferRunner)? { runners[task] }

    // MARK: Late results

    /// Whether this is the present attempt of its task. The caller drops a result of an earlier attempt.
    func isRunning(_ attempt: RunningAttempt) -> Bool { runners[attempt.task.id]?.attempt === attempt }

    /// The task's runner; nil if this attempt does not run any more.
    func runner(_ task: TaskID, _ attempt: UInt64) -> (any TransferRunner)? {
        guard let runner = runners[task], runner.attempt.number == attempt else { return nil }
        return runner
    }

    // MARK: Running tasks

    var all: Dictionary<TaskID, any TransferRunner>.Values { runners.values }

    var lanes: [LaneID] { runners.values.map(\.attempt.task.lane) }

    func isRunning(in lane: LaneID) -> Bool { runners.values.contains { $0.attempt.task.lane == lane } }

    func tasks(of session: SessionID) -> Set<TaskID> {
        Set(runners.values.filter { $0.attempt.task.session == session }.map(\.attempt.task.id))
    }

    func newAttempt() -> UInt64 {
        lastAttempt += 1
        return lastAttempt
    }

    func add(_ runner: any TransferRunner) { runners[runner.attempt.task.id] = runner }

    /// Removes the runner. Returns false when it is not the task's present runner.
    func remove(_ runner: any TransferRunner) -> Bool {
        guard isRunning(runner.attempt) else { return false }
        runners[runner.attempt.task.id] = nil
        return true
    }

    func removeAll() { runners = [:] }

    /// The running task that stops in favour of a more important task. It is a task of this origin. If `origin` is nil,
    /// it is a task of any origin.
    func leastImportant(at origin: Origin?) -> (any TransferRunner)? {
        let candidates = runners.values.lazy.filter {
            $0.mayBePreempted && (origin == nil || $0.attempt.task.origin == origin)
        }
        return PreemptionPolicy.among(candidates.map(\.preemptionCandidate)).flatMap { runners[$0] }
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

    func beginFinishing(on device: UInt64) { disks.beginFinishing(on: device) }
    func endFinishing(on device: UInt64) { disks.endFinishing(on: device) }

    // MARK: State of several attempts

    func neededSpace(of task: TaskID) -> UInt64? { neededSpace[task] }

    /// Notes a full file system. `missing`: how many bytes of the file are still missing; nil if its size is unknown.
    func recordFullFileSystem(_ task: TaskID, missing: UInt64?) {
        if neededSpace.count >= Self.neededSpaceLimit { neededSpace.removeAll() }
        neededSpace[task] = missing ?? neededSpace[task] ?? Self.unknownSpace
    }

    func forgetNeededSpace(of task: TaskID) { neededSpace[task] = nil }

    func immediateRepeats(of task: TaskID) -> UInt32 { immediateRepeats[task] ?? 0 }

    func setImmediateRepeats(_ count: UInt32?, of task: TaskID) { immediateRepeats[task] = count }
}
