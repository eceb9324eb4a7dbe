internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

@c @implementation
public func bh_task_attempts(
    _ session: OpaquePointer?, _ task_id: UInt64, _ timeout_ms: Int32,
    _ attempts: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, batch: attempts, "attempts", error) {
        $0.submit { .attempts($0, TaskID(hostValue: task_id)) }
    }
}

@c @implementation
public func bh_session_history(
    _ session: OpaquePointer?, _ after: UInt64, _ maximum: Int, _ timeout_ms: Int32,
    _ tasks: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, batch: tasks, "tasks", error) { client throws(Failure) in
        let maximum = UInt32(try NumberArgument.count(maximum, "maximum", in: 1...Limits.batchCount))
        return client.submit { .history($0, after: TaskID(hostValue: after), maximum: maximum) }
    }
}

@c @implementation
public func bh_task_waits(
    _ session: OpaquePointer?, _ task_id: UInt64, _ timeout_ms: Int32,
    _ waits: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, batch: waits, "waits", error) {
        $0.submit { .waits($0, TaskID(hostValue: task_id)) }
    }
}

@c @implementation
public func bh_tasks_attempts(
    _ session: OpaquePointer?, _ task_ids: UnsafePointer<UInt64>?, _ count: Int, _ timeout_ms: Int32,
    _ attempts: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, batch: attempts, "attempts", error) { client throws(Failure) in
        let tasks = try recordedTasks(task_ids, count)
        return client.submit { .attemptsOfTasks($0, tasks) }
    }
}

@c @implementation
public func bh_tasks_waits(
    _ session: OpaquePointer?, _ task_ids: UnsafePointer<UInt64>?, _ count: Int, _ timeout_ms: Int32,
    _ waits: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, batch: waits, "waits", error) { client throws(Failure) in
        let tasks = try recordedTasks(task_ids, count)
        return client.submit { .waitsOfTasks($0, tasks) }
    }
}

/// The tasks whose records a host asks for.
private func recordedTasks(_ ids: UnsafePointer<UInt64>?, _ count: Int) throws(Failure) -> [TaskID] {
    try NumberArgument.array(ids, "task_ids", count: count, "count", limit: Limits.recordCount)
        .map(TaskID.init(hostValue:))
}
