internal import CBackhaul

/// Whether a task downloads or uploads.
public enum TaskKind: Int32, Hashable, Sendable {
    case download = 1
    case upload = 2
}

/// State of a task. The last three are final.
public enum TaskState: Int32, Hashable, Sendable, CaseIterable {
    case waiting = 1
    case running = 2
    case suspended = 3
    case succeeded = 4
    case failed = 5
    case cancelled = 6

    public var hasEnded: Bool { rawValue >= TaskState.succeeded.rawValue }
}

/// Why a task does not move.
public struct WaitingReason: Hashable, Sendable {
    public enum Code: Int32, Hashable, Sendable {
        /// Other tasks run before it: limits on connections or running tasks.
        case slot = 1
        /// Until it is resumed.
        case suspended = 2
        /// After an error, until the next attempt.
        case retry = 3
        /// No response came yet.
        case connecting = 4
        /// The server sends nothing.
        case stalled = 5
        /// All bytes are here, and are being made durable.
        case finishing = 6
        /// Until there is space.
        case diskFull = 7
        /// Until its challenge gets a response: `Session.challenges`.
        case credential = 8
        /// Until there is a route to the server.
        case connectivity = 9
        /// A limit of bytes per second.
        case rate = 10
        /// `requiresExternalPower`, and the machine runs on battery.
        case power = 11
        /// Until the battery has `minimumBatteryPercent`, or there is external power.
        case battery = 12
        /// The machine is hotter than `maximumThermalState`.
        case heat = 13
        /// Processors, disks or memory are under more pressure than the limits allow.
        case pressure = 14
        /// `requiresUnmetered`, and the network is metered.
        case metered = 15
        /// The network's kind is not in `networks`.
        case network = 16
        /// Slower than `minimumBytesPerSecond`; the next probe is at `nextAttemptMilliseconds`.
        case throughput = 17
        /// Until `earliestStartMilliseconds`.
        case earliestStart = 18
        /// Until `nextAttemptMilliseconds`.
        case quietHours = 19
        /// The bytes of the day or month on this network are used up, until `nextAttemptMilliseconds`.
        case budget = 20
        /// The machine is about to sleep, or sleeps.
        case sleep = 21
        /// All servers fail in the same manner: a portal asks for a login, or the uplink is dead.
        case portal = 22
    }

    /// Nil: a reason that only a newer library has; `text` describes it.
    public let code: Code?
    /// One sentence.
    public let text: String
    /// Unix time in milliseconds when the engine tries or checks again.
    public let nextAttemptMilliseconds: Int64?
}

/// A task with its live progress.
public struct TaskInfo: Sendable, Identifiable {
    public let id: TaskID
    public let round: UInt64
    /// `.waiting` also for a state that only a newer library has.
    public let state: TaskState
    /// Nil while it runs, and when it has ended.
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
    /// Bytes of the whole file; nil until a response has said it.
    public let size: UInt64?
    /// Over the last seconds; 0 when it does not run.
    public let bytesPerSecond: UInt64
    /// Unix time in milliseconds.
    public let enqueuedMilliseconds: Int64
    public let kind: TaskKind
    public let group: String?
    /// Bytes of the request's body that were sent in this attempt.
    public let bodySent: UInt64
    /// Of the request's body; 0 without one.
    public let bodySize: UInt64
    /// Unix time in milliseconds; nil while it has not ended.
    public let endedMilliseconds: Int64?
    /// Of a successful download's file.
    public let path: String?
    /// As enqueued or rescheduled, as the next one.
    public let earliestStartMilliseconds: Int64?
    public let latestStartMilliseconds: Int64?
    /// As enqueued, as the next one.
    public let expectedBytesReceived: UInt64?
    public let expectedBytesSent: UInt64?
    /// The task's own, as enqueued or set since. None in the history.
    public let constraints: Constraints

    init(_ task: bh_task_info) {
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
    }
}
