internal import CBackhaul

/// Where a task stands.
public enum TaskState: Int32, Hashable, Sendable, CaseIterable {
    case waiting = 1
    case running = 2
    case suspended = 3
    case succeeded = 4
    case failed = 5
    case cancelled = 6

    public var hasEnded: Bool { rawValue >= TaskState.succeeded.rawValue }
}

/// Why a task is not moving.
public struct WaitingReason: Hashable, Sendable {
    public enum Code: Int32, Hashable, Sendable {
        /// Other tasks run before it: limits on connections or running tasks.
        case turn = 1
        /// Until resumed.
        case suspended = 2
        /// After an error, until the next attempt.
        case retry = 3
        /// The server has not answered yet.
        case connecting = 4
        /// The server sends nothing.
        case stalled = 5
        /// All bytes are here and being made durable.
        case finishing = 6
        /// Until there is space.
        case diskFull = 7
        /// Until its challenge is answered: `Session.challenges`.
        case credential = 8
    }

    /// Nil: a reason that only a newer library knows; `text` still tells it.
    public let code: Code?
    /// One sentence.
    public let text: String
    /// Unix time in milliseconds when the task will be looked at again.
    public let nextAttemptMilliseconds: Int64?
}

/// A task with its live progress.
public struct TaskInfo: Sendable, Identifiable {
    public let id: TaskID
    public let round: UInt64
    /// `.waiting` also for a state that only a newer library knows.
    public let state: TaskState
    /// Nil while it is moving, and when it has ended.
    public let reason: WaitingReason?
    public let url: String
    /// Nil: kept in the store.
    public let destination: String?
    public let idempotencyKey: String?
    public let userData: [UInt8]?
    public let priority: Int32
    /// Of the last failed attempt or of the end.
    public let error: BackhaulError?
    public let httpStatus: Int?
    public let attempts: Int
    /// Bytes of the file that are here.
    public let offset: UInt64
    /// Bytes of the whole file; nil until an answer has told it.
    public let size: UInt64?
    /// Over the last seconds; 0 when not moving.
    public let bytesPerSecond: UInt64
    /// Unix time in milliseconds.
    public let enqueuedMilliseconds: Int64

    init(_ task: bh_task) {
        id = task.id
        round = task.round
        state = TaskState(rawValue: task.state) ?? .waiting
        reason =
            Int(task.reason) == BH_REASON_NONE
            ? nil
            : WaitingReason(
                code: WaitingReason.Code(rawValue: task.reason), text: Backhaul.text(task.reason_text) ?? "",
                nextAttemptMilliseconds: task.next_attempt_ms == 0 ? nil : task.next_attempt_ms)
        url = text(task.url) ?? ""
        destination = text(task.destination)
        idempotencyKey = text(task.idempotency_key)
        userData = bytes(task.user_data, task.user_data_size)
        priority = task.priority
        error =
            Int(task.status) == BH_OK ? nil : BackhaulError(Int(task.status), message: text(task.error_message))
        httpStatus = task.http_status == 0 ? nil : Int(task.http_status)
        attempts = Int(task.attempts)
        offset = task.offset
        size = task.size == UInt64.max ? nil : task.size
        bytesPerSecond = task.bytes_per_second
        enqueuedMilliseconds = task.enqueued_ms
    }
}

/// Which tasks a verb is about.
public struct TaskSelection: Hashable, Sendable {
    /// Empty: all.
    public var ids: [TaskID]
    /// Empty: any.
    public var states: Set<TaskState>

    public init(ids: [TaskID] = [], states: Set<TaskState> = []) {
        self.ids = ids
        self.states = states
    }

    public static let all = TaskSelection()
    /// Nothing is selected by an empty list of numbers, so it takes at least one.
    public static func ids(_ first: TaskID, _ others: TaskID...) -> TaskSelection {
        TaskSelection(ids: [first] + others)
    }
    public static func states(_ states: Set<TaskState>) -> TaskSelection { TaskSelection(states: states) }

    func value(_ arena: Arena) -> bh_task_selection {
        bh_task_selection(
            struct_size: MemoryLayout<bh_task_selection>.size, ids: arena.array(ids), id_count: ids.count,
            states: states.reduce(0) { $0 | 1 << UInt32($1.rawValue) })
    }
}
