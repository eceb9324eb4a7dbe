import CBackhaul

/// A copy of a condition from a listing. A *condition* is one fact about the system, such as power or network.
struct ConditionRecord {
    let kind: Int32
    /// Whether the engine, which runs the tasks, could read the condition. If a condition cannot be read, no task waits
    /// for this condition.
    let isKnown: Bool
    let value: Int64
    /// The name of the network, if the condition is a network.
    let name: String?
    let text: String
    let source: String
    /// The time of the last change in Unix milliseconds, or 0.
    let since: Int64

    init(_ condition: bh_condition) {
        kind = condition.kind
        isKnown = condition.is_known
        value = condition.value
        name = backhaul.text(condition.name)
        text = backhaul.text(condition.text) ?? ""
        source = backhaul.text(condition.source) ?? ""
        since = condition.since_ms
    }

    /// The name of the condition for users, such as "external power".
    var title: String {
        switch Int(kind) {
        case BH_CONDITION_THERMAL_STATE: "heat"
        case BH_CONDITION_CPU_PRESSURE: "processor pressure"
        case BH_CONDITION_IO_PRESSURE: "disk pressure"
        case BH_CONDITION_MEMORY_PRESSURE: "memory pressure"
        case BH_CONDITION_CONNECTIVITY: "internet"
        case BH_CONDITION_METERED: "metering"
        default: String(Names.condition(kind).map { $0 == "_" ? " " : $0 })
        }
    }

    var json: JSON {
        .record(of: bh_condition.self, [
            ("kind", .string(Names.condition(kind))), ("is_known", .bool(isKnown)),
            ("value", isKnown ? .integer(value) : .null), ("name", .optional(name)), ("text", .string(text)),
            ("source", .string(source)), ("since_ms", .number(unlessZero: since)),
        ])
    }
}

/// A copy of a hold. A *hold* has a reason for which tasks wait, such as missing power. It also has the number of tasks
/// that wait for this reason in one session (a named collection of tasks).
struct HoldRecord {
    let application: String
    let session: String
    /// The origin (scheme, host name and port) whose tasks are held. Nil if the hold applies to all origins.
    let origin: String?
    let reason: Int32
    let reasonText: String
    /// The start of the hold in Unix milliseconds, or 0. `nextCheck` has the same form.
    let began: Int64
    let nextCheck: Int64
    let tasks: UInt64

    init(_ hold: bh_hold) {
        application = text(hold.application) ?? ""
        session = text(hold.session) ?? ""
        origin = text(hold.origin)
        reason = hold.reason
        reasonText = text(hold.reason_text) ?? ""
        began = hold.began_ms
        nextCheck = hold.next_check_ms
        tasks = hold.tasks
    }

    var json: JSON {
        .record(of: bh_hold.self, [
            ("application", .string(application)), ("session", .string(session)), ("origin", .optional(origin)),
            ("reason_text", .string(reasonText)), ("reason", .string(Names.reason(reason))),
            ("began_ms", .number(unlessZero: began)), ("next_check_ms", .number(unlessZero: nextCheck)),
            ("tasks", .number(tasks)),
        ])
    }
}

/// A copy of a wait record, which has the reason, the start and the end of one wait.
struct WaitRecord {
    let reason: Int32
    let reasonText: String?
    /// The start of the wait in Unix milliseconds.
    let began: Int64
    /// The end of the wait in Unix milliseconds. Nil if the task still waits.
    let ended: Int64?

    init(_ wait: bh_wait_record) {
        reason = wait.reason
        reasonText = text(wait.reason_text)
        began = wait.began_ms
        ended = wait.ended_ms == 0 ? nil : wait.ended_ms
    }

    var json: JSON {
        .record(of: bh_wait_record.self, [
            ("reason", .string(Names.reason(reason))), ("reason_text", .optional(reasonText)),
            ("began_ms", .integer(began)), ("ended_ms", ended.map { .integer($0) } ?? .null),
        ])
    }
}
