internal import CBackhaul

/// A condition: one fact about the present state of the system, such as external power. The engine reads the
/// conditions. A task can depend on conditions.
public struct Condition: Hashable, Sendable {
    /// What a condition describes.
    public enum Kind: Int32, Hashable, Sendable, CaseIterable {
        /// Whether the machine runs on external power: 1 or 0.
        case externalPower = 1
        /// The charge of all batteries together, as a percentage.
        case battery = 2
        /// The heat of the machine: the raw value of a `ThermalState`.
        case thermalState = 3
        /// The pressure on the processors, as a percentage. `Constraints.maximumCPUPressurePercent` explains it.
        case cpuPressure = 4
        /// The pressure on the disks, as a percentage.
        case ioPressure = 5
        /// The pressure on the memory, as a percentage.
        case memoryPressure = 6
        /// The kind of the network: the raw value of one member of `NetworkKinds`. 0 if there is no default route.
        case network = 7
        /// Whether the network is metered, which means that data may cost money: 1 or 0.
        case metered = 8
        /// How much of the internet can be reached: the raw value of a `Connectivity`.
        case connectivity = 9
        /// Whether the machine is about to sleep: 1 or 0.
        case sleep = 10
        /// The bytes per second of all transfers together, as an average of the last seconds.
        case throughput = 11
    }

    /// How much of the internet can be reached through the network.
    public enum Connectivity: Int32, Hashable, Sendable {
        /// There is no default route.
        case noRoute = 1
        /// The network demands a login on a web page (a *portal*).
        case portal = 2
        /// The route from the local network to other networks (the *uplink*) does not work.
        case limited = 3
        /// The internet can be reached.
        case full = 4
    }

    /// Nil if the kind is from a newer version of the library. `text` then describes the condition.
    public let kind: Kind?
    /// The value. Its meaning depends on `kind`. If the condition cannot be read, the value is nil, and no task waits
    /// because of this condition.
    public let value: Int64?
    /// The name of the network, for `Kind.network`. Otherwise nil.
    public let name: String?
    /// The value in words, such as "on battery".
    public let text: String
    /// The source of the value: a path, "NetworkManager" or "configured". If the value cannot be read: the reason.
    public let source: String
    /// When the engine first read the present value, as Unix time in milliseconds.
    public let sinceMilliseconds: Int64

    // Unsafe: the pointers are valid, because the C library's list is released only after its items are copied.
    init(_ condition: bh_condition) {
        kind = Kind(rawValue: condition.kind)
        value = condition.is_known ? condition.value : nil
        name = Backhaul.text(condition.name)
        text = Backhaul.text(condition.text) ?? ""
        source = Backhaul.text(condition.source) ?? ""
        sinceMilliseconds = condition.since_ms
    }
}

/// The tasks of a session that are *held* for one reason. A task is held while a condition prevents it from running.
public struct Hold: Hashable, Sendable {
    /// The identifier of the session's application.
    public let application: String
    /// The session's identifier.
    public let session: String
    /// If only tasks for one origin are held: this origin. Otherwise nil.
    public let origin: String?
    /// Why the tasks are held. `reason.nextAttemptMilliseconds` is the time of the engine's next check. If this time is
    /// nil, the engine checks only when the condition changes.
    public let reason: WaitingReason
    /// When the hold began, as Unix time in milliseconds.
    public let beganMilliseconds: Int64
    /// The number of held tasks.
    public let tasks: UInt64

    // Unsafe: the pointers are valid, because the C library's list is released only after its items are copied.
    init(_ hold: bh_hold) {
        application = text(hold.application) ?? ""
        session = text(hold.session) ?? ""
        origin = text(hold.origin)
        reason = WaitingReason(
            code: WaitingReason.Code(rawValue: hold.reason), text: sentence(hold.reason_text) ?? "",
            nextAttemptMilliseconds: hold.next_check_ms == 0 ? nil : hold.next_check_ms)
        beganMilliseconds = hold.began_ms
        tasks = hold.tasks
    }
}

/// A wait record: a period in which a task did not run, with the reason.
public struct Wait: Hashable, Sendable {
    /// The task.
    public let taskID: TaskID
    /// Nil if the code is from a newer version of the library. `text` then describes the reason.
    public let code: WaitingReason.Code?
    /// The reason as one sentence.
    public let text: String
    /// When the wait began, as Unix time in milliseconds.
    public let beganMilliseconds: Int64
    /// When the wait ended, as Unix time in milliseconds. Nil if the task still waits.
    public let endedMilliseconds: Int64?

    // Unsafe: the pointers are valid, because the C library's list is released only after its items are copied.
    init(_ wait: bh_wait_record) {
        taskID = TaskID(rawValue: wait.task_id)
        code = WaitingReason.Code(rawValue: wait.reason)
        text = sentence(wait.reason_text) ?? ""
        beganMilliseconds = wait.began_ms
        endedMilliseconds = wait.ended_ms == 0 ? nil : wait.ended_ms
    }
}
