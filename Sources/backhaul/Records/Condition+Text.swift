import Backhaul

extension Condition {
    /// The name of the condition for users, such as "external power".
    var title: String {
        switch kind {
        case .thermalState: "heat"
        case .cpuPressure: "processor pressure"
        case .ioPressure: "disk pressure"
        case .memoryPressure: "memory pressure"
        case .connectivity: "internet"
        case .metered: "metering"
        default: kind.word.replacing("_", with: " ")
        }
    }

    /// Whether the engine could read the condition. If a condition cannot be read, no task waits for this condition.
    var isKnown: Bool { value != nil }

    var json: JSON {
        .record(
            "bh_condition",
            [
                ("kind", .word(kind)), ("is_known", .bool(isKnown)), ("value", .number(value)),
                ("name", .optional(name)),
                ("text", .string(text)), ("source", .string(source)),
                ("since_ms", .number(unlessZero: sinceMilliseconds)),
            ])
    }
}

extension Hold {
    var json: JSON {
        .record(
            "bh_hold",
            [
                ("application", .string(application)), ("session", .string(session)), ("origin", .optional(origin)),
                ("reason_text", .string(reason.text)), ("reason", .word(reason.code)),
                ("began_ms", .number(unlessZero: beganMilliseconds)),
                ("next_check_ms", .number(reason.nextAttemptMilliseconds)), ("tasks", .number(tasks)),
            ])
    }
}

extension Backhaul.Wait {
    var json: JSON {
        .record(
            "bh_wait_record",
            [
                ("task_id", .id(taskID)),
                ("reason", .word(code)), ("reason_text", .optional(text.isEmpty ? nil : text)),
                ("began_ms", .number(beganMilliseconds)), ("ended_ms", .number(endedMilliseconds)),
            ])
    }
}
