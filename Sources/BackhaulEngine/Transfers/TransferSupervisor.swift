internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The running tasks, with one runner for each. A runner is identified by its task and its attempt.
///
/// Each engine has one object of this type.
final class TransferSupervisor {
    /// The limit of bytes in memory that are not written to the disk yet. With more bytes no task starts, so that a
    /// network that is faster than the disk does not fill the memory.
    private static let unwrittenLimit = 24 << 20
    /// The most runners, for running and finishing tasks together.
    private static let runnerLimit = 1_024
    /// The most entries of `neededSpace`. Entries of tasks that were cancelled while they waited may stay in it.
    private static let neededSpaceLimit = 4_096
    /// The space that is assumed when the size of a file is unknown, in bytes.
    private static let unknownSpace: UInt64 = 1 << 20

    private(set) var runners: [TaskID: any TransferRunner] = [:]
    private var lastAttempt: UInt64 = 0
    private var unwrittenBytes = 0
    /// The missing bytes of tasks whose file system was full.
    private var neededSpace: [TaskID: UInt64] = [:]
    /// How often in a row a task was repeated immediately.
    private var immediateRepeats: [TaskID: UInt32] = [:]

    subscript(_ task: TaskID) -> (any TransferRunner)? { runners[task] }

    // MARK: Late results

    /// Whether this is still the task's attempt. A result for another attempt is dropped.
    func isRunning(_ attempt: RunningAttempt) -> Bool { runners[attempt.task.id]?.attempt === attempt }

    /// The task's runner, if it still has this attempt.
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

    /// The running task to preempt for a more important one, of this origin or, with nil, of all origins.
    func leastImportant(at origin: Origin?) -> (any TransferRunner)? {
        let candidates = runners.values.lazy.filter {
            $0.mayBePreempted && (origin == nil || $0.attempt.task.origin == origin)
        }
        return PreemptionPolicy.among(candidates.map(\.preemptionCandidate)).flatMap { runners[$0] }
    }

    // MARK: Memory

    /// The number of tasks that may still start.
    var availableCapacity: Int { unwrittenBytes > Self.unwrittenLimit ? 0 : max(0, Self.runnerLimit - runners.count) }

    func willWrite(_ count: Int) { unwrittenBytes += count }

    /// Notes written bytes. Returns true when tasks may start again that had to wait for the disk.
    func wrote(_ count: Int) -> Bool {
        let wasBackpressured = unwrittenBytes > Self.unwrittenLimit
        unwrittenBytes -= count
        return wasBackpressured && availableCapacity > 0
    }

    // MARK: State of several attempts

    func neededSpace(of task: TaskID) -> UInt64? { neededSpace[task] }

    /// Notes a full file system. `missing`: the missing bytes of the file, or nil if its size is unknown.
    func recordFullFileSystem(_ task: TaskID, missing: UInt64?) {
        if neededSpace.count >= Self.neededSpaceLimit { neededSpace.removeAll() }
        neededSpace[task] = missing ?? neededSpace[task] ?? Self.unknownSpace
    }

    func forgetNeededSpace(of task: TaskID) { neededSpace[task] = nil }

    func immediateRepeats(of task: TaskID) -> UInt32 { immediateRepeats[task] ?? 0 }

    func setImmediateRepeats(_ count: UInt32?, of task: TaskID) { immediateRepeats[task] = count }
}
