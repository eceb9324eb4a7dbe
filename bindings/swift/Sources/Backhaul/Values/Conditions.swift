internal import CBackhaul

/// One aspect of the system's state.
public struct Condition: Hashable, Sendable {
    public enum Kind: Int32, Hashable, Sendable, CaseIterable {
        /// 1 or 0.
        case externalPower = 1
        /// Percentage of the charge of all batteries together.
        case battery = 2
        /// The raw value of a `ThermalState`.
        case thermalState = 3
        /// Percentage, as `Constraints.maximumCPUPressurePercent`.
        case cpuPressure = 4
        case ioPressure = 5
        case memoryPressure = 6
        /// The raw value of one of `NetworkKinds`, or 0 without a default route.
        case network = 7
        /// 1 or 0.
        case metered = 8
        /// The raw value of a `Connectivity`.
        case connectivity = 9
        /// 1: the machine is about to sleep.
        case sleep = 10
        /// Bytes per second of all transfers together, over the last seconds.
        case throughput = 11
    }

    /// How far the network reaches.
    public enum Connectivity: Int32, Hashable, Sendable {
        /// No default route.
        case none = 1
        /// A portal asks for a login.
        case portal = 2
        /// The uplink is dead.
        case limited = 3
        case full = 4
    }

    /// Nil: a kind that only a newer library has; `text` describes it.
    public let kind: Kind?
    /// As its kind says; nil: it cannot be read, and holds no task.
    public let value: Int64?
    /// Of the network.
    public let name: String?
    /// The value in words: "on battery".
    public let text: String
    /// Where it was read: a path, "NetworkManager", "configured"; or why it cannot be read.
    public let source: String
    /// Unix time in milliseconds when the engine saw it become so.
    public let sinceMilliseconds: Int64

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ condition: bh_condition) {
        kind = Kind(rawValue: condition.kind)
        value = condition.is_known ? condition.value : nil
        name = Backhaul.text(condition.name)
        text = Backhaul.text(condition.text) ?? ""
        source = Backhaul.text(condition.source) ?? ""
        sinceMilliseconds = condition.since_ms
    }
}

/// Tasks of a session that are held for one reason.
public struct Hold: Hashable, Sendable {
    public let application: String
    /// Its identifier.
    public let session: String
    /// When tasks of one origin only are held.
    public let origin: String?
    /// `nextAttemptMilliseconds`: when the engine checks again; nil: when the condition changes.
    public let reason: WaitingReason
    /// Unix time in milliseconds.
    public let beganMilliseconds: Int64
    /// Number of tasks held.
    public let tasks: UInt64

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ hold: bh_hold) {
        application = text(hold.application) ?? ""
        session = text(hold.session) ?? ""
        origin = text(hold.origin)
        reason = WaitingReason(
            code: WaitingReason.Code(rawValue: hold.reason), text: text(hold.reason_text) ?? "",
            nextAttemptMilliseconds: hold.next_look_ms == 0 ? nil : hold.next_look_ms)
        beganMilliseconds = hold.began_ms
        tasks = hold.tasks
    }
}

/// A time in which a task did not run.
public struct Wait: Hashable, Sendable {
    /// Nil: a reason that only a newer library has; `text` describes it.
    public let code: WaitingReason.Code?
    /// One sentence.
    public let text: String
    /// Unix time in milliseconds.
    public let beganMilliseconds: Int64
    /// Unix time in milliseconds; nil: it lasts.
    public let endedMilliseconds: Int64?

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ wait: bh_wait_record) {
        code = WaitingReason.Code(rawValue: wait.reason)
        text = Backhaul.text(wait.reason_text) ?? ""
        beganMilliseconds = wait.began_ms
        endedMilliseconds = wait.ended_ms == 0 ? nil : wait.ended_ms
    }
}
