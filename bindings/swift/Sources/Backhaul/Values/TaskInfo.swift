internal import CBackhaul

/// Whether a task downloads or uploads.
public enum TaskKind: Int32, Hashable, Sendable {
    /// The task writes a response to a file.
    case download = 1
    /// The task sends a body, and has no destination.
    case upload = 2
}

/// The state of a task. The last three states are final.
public enum TaskState: Int32, Hashable, Sendable, CaseIterable {
    /// The task waits. Its reason says for what.
    case waiting = 1
    /// An attempt of the task runs.
    case running = 2
    /// The task waits until the host resumes it.
    case suspended = 3
    /// The task has succeeded.
    case succeeded = 4
    /// The task has failed.
    case failed = 5
    /// The task was cancelled.
    case cancelled = 6

    /// Whether the state is final.
    public var hasEnded: Bool { rawValue >= TaskState.succeeded.rawValue }
}

/// Why a task does not progress. The *engine* finds the reason.
public struct WaitingReason: Hashable, Sendable {
    /// The kind of a reason.
    public enum Code: Int32, Hashable, Sendable {
        /// A limit on connections or running tasks is reached, so other tasks run before this task.
        case slot = 1
        /// The task is suspended until it is resumed.
        case suspended = 2
        /// An attempt failed, and the next attempt starts later.
        case retry = 3
        /// The task waits for the server's response.
        case connecting = 4
        /// The server sends nothing.
        case stalled = 5
        /// The task waits for the disk, which writes, reads or syncs its bytes.
        case disk = 6
        /// The task waits for space on the disk.
        case diskFull = 7
        /// The task waits until the host responds to a challenge: a demand for a credential, new headers or a new URL
        /// (`Session.challenges`).
        case credential = 8
        /// The task waits for a route to the server.
        case connectivity = 9
        /// A rate limit delays the task.
        case rate = 10
        /// The task requires external power, and the machine runs on battery.
        case power = 11
        /// The battery has too little charge for `minimumBatteryPercent`, and there is no external power.
        case battery = 12
        /// The machine is hotter than `maximumThermalState`.
        case heat = 13
        /// Processors, disks or memory are under more pressure than the limits allow.
        case pressure = 14
        /// The task requires an unmetered network, and the network is metered.
        case metered = 15
        /// The network's kind is not in `networks`.
        case network = 16
        /// The origin or the network is slower than `minimumBytesPerSecond`. At `nextAttemptMilliseconds`, one transfer
        /// measures the throughput again.
        case throughput = 17
        /// The task waits until its `earliestStartMilliseconds`.
        case earliestStart = 18
        /// The task waits for the end of the quiet hours, at `nextAttemptMilliseconds`.
        case quietHours = 19
        /// The budget of the day or month on this network is used up. The next day or month of the budget begins at
        /// `nextAttemptMilliseconds`.
        case budget = 20
        /// The machine is about to sleep, or sleeps.
        case sleep = 21
        /// The network demands a login on a web page (a *portal*), or its route to other networks (the *uplink*) does
        /// not work.
        case portal = 22
        /// The directory or file system of the task's file is away, or the finished file cannot get its name now. The
        /// engine checks again when a file system is mounted, when the directory is made, and at
        /// `nextAttemptMilliseconds`.
        case storage = 23
        /// The certificate of the server is not valid yet, and the clock of the machine is not synchronised, or is
        /// before the date of this version. The task is tried again every 10 seconds.
        case clock = 24
        /// The server has asked for a pause with Retry-After, which ends at `nextAttempt`. All tasks for the same
        /// scheme, host and port wait.
        case origin = 25
        /// The task waits for the end of another task of its session (`Request.after`).
        case dependency = 26
    }

    /// Nil if the code is from a newer version of the library. `text` then describes the reason.
    public let code: Code?
    /// The reason as one sentence.
    public let text: String
    /// When the engine starts the next attempt or checks the condition again, as Unix time in milliseconds.
    public let nextAttemptMilliseconds: Int64?
}

/// A task with its live progress.
public struct TaskInfo: Sendable, Identifiable {
    /// The id of the task.
    public let id: TaskID
    /// The number of the round to which the task belongs.
    public let round: UInt64
    /// The task's state. `.waiting` if the state is from a newer version of the library.
    public let state: TaskState
    /// Why the task does not progress. Nil if the task progresses or has ended.
    public let reason: WaitingReason?
    /// The URL of the request.
    public let url: String
    /// The path at which the file is placed. Nil: the task is an upload, or the file is kept in the store.
    public let destination: String?
    /// The idempotency key of the request.
    public let idempotencyKey: String?
    /// The bytes that the host has stored with the task.
    public let userData: [UInt8]?
    /// The priority of the task: -100 to 100, or `Request.priorityNow`.
    public let priority: Int32
    /// The error of the task, or of its last failed attempt.
    public let error: BackhaulError?
    /// The status of the last response. Nil if there was no response.
    public let httpStatus: Int?
    /// The number of attempts. An attempt is one run of the task.
    public let attempts: Int
    /// The number of the file's bytes that are stored.
    public let offset: UInt64
    /// The size of the whole file in bytes. Nil until a response has stated it.
    public let size: UInt64?
    /// The average rate of the last seconds. 0 if the task does not run.
    public let bytesPerSecond: UInt64
    /// When the task was enqueued, as Unix time in milliseconds.
    public let enqueuedMilliseconds: Int64
    /// Whether the task is a download or an upload.
    public let kind: TaskKind
    /// The name of the task's group.
    public let group: String?
    /// The bytes of the request's body that were sent in the present attempt.
    public let bodySent: UInt64
    /// The size of the request's body in bytes. 0 if the request has no body.
    public let bodySize: UInt64
    /// When the task ended, as Unix time in milliseconds. Nil if it has not ended.
    public let endedMilliseconds: Int64?
    /// The path of a successful download's file. Otherwise nil.
    public let path: String?
    /// The earliest start that the request or `Session.reschedule` has set, as Unix time in milliseconds.
    public let earliestStartMilliseconds: Int64?
    /// The latest start that the request or `Session.reschedule` has set, as Unix time in milliseconds.
    public let latestStartMilliseconds: Int64?
    /// The two upper bounds that the request has set (`Request.expectedBytesReceived` and `Request.expectedBytesSent`).
    public let expectedBytesReceived: UInt64?
    /// The upper bound of the sent bytes.
    public let expectedBytesSent: UInt64?
    /// The task's own constraints, from its request or from a later change. For a task of the history, no constraint is
    /// set.
    public let constraints: Constraints
    /// The task's own limit in bytes per second, from its request or from `Session.setRate`. Nil if the task has no own
    /// limit, or is in the history.
    public let rateLimit: UInt64?

    init(_ task: bh_task_info) {
        id = TaskID(rawValue: task.id)
        round = task.round
        state = TaskState(rawValue: task.state) ?? .waiting
        reason =
            Int(task.reason) == BH_REASON_NONE
            ? nil
            : WaitingReason(
                code: WaitingReason.Code(rawValue: task.reason), text: sentence(task.reason_text) ?? "",
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
        size = task.size == BH_SIZE_UNKNOWN ? nil : task.size
        bytesPerSecond = task.bytes_per_second
        enqueuedMilliseconds = task.enqueued_ms
        kind = TaskKind(rawValue: task.kind) ?? .download
        group = Backhaul.text(task.group)
        bodySent = task.body_sent
        bodySize = task.body_size
        endedMilliseconds = task.ended_ms == 0 ? nil : task.ended_ms
        path = Backhaul.text(task.path)
        earliestStartMilliseconds = task.earliest_start_ms == 0 ? nil : task.earliest_start_ms
        latestStartMilliseconds = task.latest_start_ms == 0 ? nil : task.latest_start_ms
        expectedBytesReceived = task.expected_bytes_received == 0 ? nil : task.expected_bytes_received
        expectedBytesSent = task.expected_bytes_sent == 0 ? nil : task.expected_bytes_sent
        constraints = task.constraints.map { Constraints($0.pointee) } ?? Constraints()
        rateLimit = task.rate_limit == 0 ? nil : task.rate_limit
    }
}
