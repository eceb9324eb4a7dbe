internal import BackhaulModel

/// The state of a task in the fleet's database. The numbers are in the database.
enum FleetTaskState: Int64, Sendable, CaseIterable {
    case queued = 1
    case suspended = 2
    /// A worker runs the task.
    case running = 3
    /// The run of the task has its end, whose file gets its final name. No other run can have another end.
    case publishing = 4
    case succeeded = 5
    case failed = 6
    case cancelled = 7

    init(ended state: TaskState) {
        switch state {
        case .succeeded: self = .succeeded
        case .cancelled: self = .cancelled
        default: self = .failed
        }
    }

    /// The state that hosts see.
    var shown: TaskState {
        switch self {
        case .queued: .waiting
        case .suspended: .suspended
        case .running, .publishing: .running
        case .succeeded: .succeeded
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }
}

/// One run of a task: the task and how often it was claimed. A write of a worker names the run. If the run is not the
/// task's newest one, the write has no effect.
struct TaskRun: Hashable, Sendable {
    var task: TaskID
    var run: Int64

    init(task: TaskID, run: Int64) {
        self.task = task
        self.run = run
    }

    /// The text that names the run in the local engine of a worker, and in the names of temporary files.
    var text: String { "\(task.rawValue)-\(run)" }

    init?(_ text: String) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, let task = UInt64(parts[0]), let run = Int64(parts[1]) else { return nil }
        self.init(task: TaskID(rawValue: task), run: run)
    }
}

/// A task that a worker has claimed.
struct ClaimedTask: Sendable {
    var run: TaskRun
    var session: SessionID
    var origin: Int64
    var request: Request
}

/// A task whose run has decided its end, and whose file may not have its final name yet.
struct PublishingTask: Sendable {
    var run: TaskRun
    /// The first run whose temporary file may exist.
    var firstRun: Int64
    /// The inode of the file.
    var inode: UInt64
    var request: Request
    var outcome: Outcome
}

/// The end of a run.
struct RunEnd: Sendable {
    var run: TaskRun
    var outcome: Outcome

    init(_ run: TaskRun, _ outcome: Outcome) {
        self.run = run
        self.outcome = outcome
    }
}

/// The end of a run whose file is ready.
struct DecidedEnd: Sendable {
    var end: RunEnd
    /// The inode of the file, by which another worker recognises the file under its final name.
    var inode: UInt64

    init(_ end: RunEnd, inode: UInt64) {
        self.end = end
        self.inode = inode
    }
}

extension Rows.Row {
    /// The run in the first two columns: the task, and the number of the run.
    var taskRun: TaskRun { TaskRun(task: TaskID(rawValue: unsigned(0)), run: integer(1)) }
}
