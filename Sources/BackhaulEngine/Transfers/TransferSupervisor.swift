internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The running tasks: one runner for each, known by its task and its attempt.
///
/// Each loop has one.
final class TransferSupervisor {
    /// Bytes in memory that the disk has not taken yet. A network that is faster than the disk must not fill the
    /// memory: with more of them no task starts.
    private static let unwrittenLimit = 24 << 20
    /// Running and finishing tasks together.
    private static let runnerLimit = 1_024
    /// Of tasks that were cancelled while they waited, some are remembered in vain.
    private static let neededSpaceLimit = 4_096
    /// Space assumed when the size of a file is unknown.
    private static let unknownSpace: UInt64 = 1 << 20

    private(set) var runners: [TaskID: any TransferRunner] = [:]
    private var lastAttempt: UInt64 = 0
    private var unwrittenBytes = 0
    /// Bytes that tasks lacked which found their file system full.
    private var neededSpace: [TaskID: UInt64] = [:]
    /// How often in a row a task was sent again at once.
    private var immediateRepeats: [TaskID: UInt32] = [:]

    subscript(_ task: TaskID) -> (any TransferRunner)? { runners[task] }

    // MARK: Late results

    /// Whether this is still the task's attempt. A result that comes for another one is dropped.
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

    /// Returns false when another attempt of the task has taken its place.
    func remove(_ runner: any TransferRunner) -> Bool {
        guard isRunning(runner.attempt) else { return false }
        runners[runner.attempt.task.id] = nil
        return true
    }

    func removeAll() { runners = [:] }

    /// An urgent task waits for a slot: the running task that is to make way for it, of this origin unless it is nil.
    func leastImportant(at origin: Origin?) -> (any TransferRunner)? {
        let candidates = runners.values.lazy.filter {
            $0.mayBePreempted && (origin == nil || $0.attempt.task.origin == origin)
        }
        return LeastImportant.among(candidates.map(\.preemptionCandidate)).flatMap { runners[$0] }
    }

    // MARK: Memory

    /// So many tasks more may start.
    var room: Int { unwrittenBytes > Self.unwrittenLimit ? 0 : max(0, Self.runnerLimit - runners.count) }

    func willWrite(_ count: Int) { unwrittenBytes += count }

    /// True when tasks may start again that the disk has held up.
    func wrote(_ count: Int) -> Bool {
        let wasBehind = unwrittenBytes > Self.unwrittenLimit
        unwrittenBytes -= count
        return wasBehind && room > 0
    }

    // MARK: What outlives an attempt

    func neededSpace(of task: TaskID) -> UInt64? { neededSpace[task] }

    /// The file system was full: `missing` bytes of the file, or nil when its size is unknown.
    func foundFull(_ task: TaskID, missing: UInt64?) {
        if neededSpace.count >= Self.neededSpaceLimit { neededSpace.removeAll() }
        neededSpace[task] = missing ?? neededSpace[task] ?? Self.unknownSpace
    }

    func forgetNeededSpace(of task: TaskID) { neededSpace[task] = nil }

    func immediateRepeats(of task: TaskID) -> UInt32 { immediateRepeats[task] ?? 0 }

    func setImmediateRepeats(_ count: UInt32?, of task: TaskID) { immediateRepeats[task] = count }
}
