internal import CBackhaul

/// The verbs of a session.
extension Verb where Owner == Session, Value == Void {
    package static func setConfiguration(_ configuration: SessionConfiguration) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let value = arena.array([try configuration.value(arena)])
        return Verb(arena) { bh_session_set_configuration($0, value, BH_START, $1) }
    }

    package static func invalidate(cancellingTasks: Bool) -> Verb {
        let mode = Int32(cancellingTasks ? BH_INVALIDATE_CANCEL : BH_INVALIDATE_FINISH)
        return Verb { bh_session_invalidate($0, mode, BH_START, $1) }
    }

    package static var complete: Verb { Verb { bh_session_complete($0, BH_START, $1) } }

    package static func respond(
        _ challenge: ChallengeID, _ response: ChallengeResponse, isKept: Bool = false,
        expiresMilliseconds: Int64? = nil
    ) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let value = arena.array(
            [try response.value(arena, isKept: isKept, expiresMilliseconds: expiresMilliseconds)])
        return Verb(arena) { bh_session_respond($0, challenge.rawValue, value, BH_START, $1) }
    }

    /// Makes the engine send progress readings. In each period of `milliseconds`, a task has at most one reading. A
    /// value of 0 stops the readings.
    package static func watchProgress(milliseconds: UInt32) -> Verb {
        Verb { bh_session_watch_progress($0, milliseconds, BH_START, $1) }
    }

    package static func claim(
        _ task: TaskID, to destination: String, ifExists: ExistsPolicy
    ) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let path = try arena.string(destination, "the destination")
        return Verb(
            arena, isSlow: true, { bh_task_claim($0, task.rawValue, path, ifExists.rawValue, BH_START, $1) }
        ) { _ in }
    }

    package static func setActivity(_ activity: Activity) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let value = arena.array([try activity.value(arena)])
        return Verb(arena) { bh_session_set_activity($0, value, BH_START, $1) }
    }

    package static func removeActivity(_ identifier: String) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let name = try arena.string(identifier, "the activity's identifier")
        return Verb(arena) { bh_session_remove_activity($0, name, BH_START, $1) }
    }
}

/// The verbs that change tasks or remove events. Each one returns the number of them.
extension Verb where Owner == Session, Value == UInt64 {
    // Unsafe: the selection is owned by the verb's arena.
    private typealias Change = (
        OpaquePointer, UnsafePointer<bh_task_selection>?, UnsafeMutablePointer<bh_error>
    ) -> bh_status

    package static func acknowledge(_ events: [EventID]) -> Verb {
        let ids = events.map(\.rawValue)
        return counting(known: ids.isEmpty ? 0 : nil) { bh_session_acknowledge($0, ids, ids.count, BH_START, nil, $1) }
    }

    package static func acknowledge(through event: EventID) -> Verb {
        counting { bh_session_acknowledge_through($0, event.rawValue, BH_START, nil, $1) }
    }

    package static func cancel(_ selection: TaskSelection) throws(BackhaulError) -> Verb {
        try change(selection) { bh_tasks_cancel($0, $1, BH_START, nil, $2) }
    }

    package static func suspend(_ selection: TaskSelection) throws(BackhaulError) -> Verb {
        try change(selection) { bh_tasks_suspend($0, $1, BH_START, nil, $2) }
    }

    package static func setAside(_ selection: TaskSelection) throws(BackhaulError) -> Verb {
        try change(selection) { bh_tasks_set_aside($0, $1, BH_START, nil, $2) }
    }

    package static func resume(_ selection: TaskSelection) throws(BackhaulError) -> Verb {
        try change(selection) { bh_tasks_resume($0, $1, BH_START, nil, $2) }
    }

    package static func setPriority(_ priority: Int32, _ selection: TaskSelection) throws(BackhaulError) -> Verb {
        try change(selection) { bh_tasks_set_priority($0, $1, priority, BH_START, nil, $2) }
    }

    package static func setRate(_ bytesPerSecond: UInt64?, _ selection: TaskSelection) throws(BackhaulError) -> Verb {
        try change(selection) { bh_tasks_set_rate($0, $1, bytesPerSecond ?? 0, BH_START, nil, $2) }
    }

    package static func setConstraints(
        _ constraints: Constraints, _ selection: TaskSelection
    ) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let value = arena.array([try constraints.value(arena)])
        return try change(selection, arena) { bh_tasks_set_constraints($0, $1, value, BH_START, nil, $2) }
    }

    package static func reschedule(
        _ selection: TaskSelection, earliestStart: StartChange = .unchanged, latestStart: StartChange = .unchanged
    ) throws(BackhaulError) -> Verb {
        try change(selection) {
            bh_tasks_reschedule($0, $1, earliestStart.value, latestStart.value, BH_START, nil, $2)
        }
    }

    private static func change(
        _ selection: TaskSelection, _ arena: Arena = Arena(), _ change: @escaping Change
    ) throws(BackhaulError) -> Verb {
        let value = arena.array([try selection.value(arena)])
        return counting(arena, known: selection.selectsNothing ? 0 : nil) { change($0, value, $1) }
    }
}

extension Verb where Owner == Session, Value == SessionConfiguration? {
    package static var configuration: Verb { listing(bh_session_get_configuration) { $0.configurations().first } }
}

extension Verb where Owner == Session, Value == [Enqueued] {
    package static func enqueue(_ requests: [Request]) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let values = try requests.values(arena)
        return Verb(
            arena, known: requests.isEmpty ? [] : nil, isSlow: true,
            { bh_session_enqueue($0, values, values.count, BH_START, nil, $1) }
        ) { outcome throws(BackhaulError) in try outcome.batch().enqueued() }
    }
}

extension Verb where Owner == Session, Value == (events: [Event], more: Bool) {
    package static func poll(after: EventID?, maximum: Int) -> Verb {
        batch(Arena(), { bh_session_poll($0, after?.rawValue ?? 0, maximum, BH_START, nil, $1) }) {
            ($0.events(), $0.hasMore)
        }
    }
}

extension Verb where Owner == Session, Value == [Challenge] {
    package static var challenges: Verb { listing(bh_session_challenges) { $0.challenges() } }
}

extension Verb where Owner == Session, Value == (tasks: [TaskInfo], more: Bool) {
    package static func tasks(
        _ selection: TaskSelection, after: TaskID? = nil, maximum: Int
    ) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let value = arena.array([try selection.value(arena)])
        return batch(
            arena, known: selection.selectsNothing ? ([], false) : nil,
            { bh_session_tasks($0, value, after?.rawValue ?? 0, maximum, BH_START, nil, $1) }
        ) { ($0.tasks(), $0.hasMore) }
    }

    package static func history(after: TaskID?, maximum: Int) -> Verb {
        batch(Arena(), { bh_session_history($0, after?.rawValue ?? 0, maximum, BH_START, nil, $1) }) {
            ($0.tasks(), $0.hasMore)
        }
    }
}

extension Verb where Owner == Session, Value == TaskInfo? {
    package static func task(_ id: TaskID) -> Verb {
        batch(Arena(), { bh_session_task($0, id.rawValue, BH_START, nil, $1) }) { $0.tasks().first }
    }
}

extension Verb where Owner == Session, Value == [Attempt] {
    package static func attempts(_ task: TaskID) -> Verb {
        batch(Arena(), { bh_task_attempts($0, task.rawValue, BH_START, nil, $1) }) { $0.attempts() }
    }
}

extension Verb where Owner == Session, Value == (records: [Attempt], more: Bool) {
    package static func attempts(_ tasks: [TaskID]) -> Verb {
        let ids = tasks.map(\.rawValue)
        return batch(
            Arena(), known: ids.isEmpty ? ([], false) : nil,
            { bh_tasks_attempts($0, ids, ids.count, BH_START, nil, $1) }
        ) { ($0.attempts(), $0.hasMore) }
    }
}

extension Verb where Owner == Session, Value == (records: [Wait], more: Bool) {
    package static func waits(_ tasks: [TaskID]) -> Verb {
        let ids = tasks.map(\.rawValue)
        return batch(
            Arena(), known: ids.isEmpty ? ([], false) : nil, { bh_tasks_waits($0, ids, ids.count, BH_START, nil, $1) }
        ) { ($0.waits(), $0.hasMore) }
    }
}

extension Verb where Owner == Session, Value == [Wait] {
    package static func waits(_ task: TaskID) -> Verb {
        batch(Arena(), { bh_task_waits($0, task.rawValue, BH_START, nil, $1) }) { $0.waits() }
    }
}

extension Verb where Owner == Session, Value == [ActivityInfo] {
    package static var activities: Verb { listing(bh_session_activities) { $0.activities() } }
}
