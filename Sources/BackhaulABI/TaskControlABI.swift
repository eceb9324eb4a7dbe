internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

private func control(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ control: TaskControl
) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    if case .setPriority(let priority) = control { try NumberArgument.checkPriority(priority) }
    return StartedVerb(
        session.client.control(control, try SelectionArgument.read(selection)), .count, session.application)
}

@c @implementation
public func bh_tasks_cancel(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ timeout_ms: Int32,
    _ affected: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, count: affected, error) { () throws(Failure) in
        try control(session, selection, .cancel)
    }
}

@c @implementation
public func bh_tasks_suspend(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ timeout_ms: Int32,
    _ affected: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, count: affected, error) { () throws(Failure) in
        try control(session, selection, .suspend)
    }
}

@c @implementation
public func bh_tasks_set_aside(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ timeout_ms: Int32,
    _ affected: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, count: affected, error) { () throws(Failure) in
        try control(session, selection, .setAside)
    }
}

@c @implementation
public func bh_tasks_resume(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ timeout_ms: Int32,
    _ affected: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, count: affected, error) { () throws(Failure) in
        try control(session, selection, .resume)
    }
}

@c @implementation
public func bh_tasks_set_priority(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ priority: Int32, _ timeout_ms: Int32,
    _ affected: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, count: affected, error) { () throws(Failure) in
        try control(session, selection, .setPriority(priority))
    }
}

@c @implementation
public func bh_tasks_set_rate(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ bytes_per_second: UInt64,
    _ timeout_ms: Int32, _ affected: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, count: affected, error) { () throws(Failure) in
        try control(session, selection, .setRate(PolicyArgument.unlessZero(bytes_per_second)))
    }
}

@c @implementation
public func bh_tasks_set_constraints(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?,
    _ constraints: UnsafePointer<bh_constraints>?, _ timeout_ms: Int32, _ affected: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, count: affected, error) { () throws(Failure) in
        let stated = try constraints.map { given throws(Failure) in try ConstraintsArgument.read(given.pointee) }
        try ConstraintsCheck.check(stated ?? .none)
        return try control(session, selection, .setConstraints(stated ?? .none))
    }
}

private func reschedule(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ earliest: Int64, _ latest: Int64
) throws(Failure) -> StartedVerb {
    let rescheduling = Rescheduling(
        earliest: try startChange(earliest, "earliest_start_ms"), latest: try startChange(latest, "latest_start_ms"))
    try RescheduleDecision.check(rescheduling)
    return try control(session, selection, .reschedule(rescheduling))
}

private func startChange(_ given: Int64, _ name: String) throws(Failure) -> StartChange {
    guard let change = StartChange(code: given) else {
        throw Failure(
            .invalidArgument,
            "\(name) is \(given), not a time after 1970 and before the year 10000; give one, 0 or BH_TIME_UNCHANGED")
    }
    return change
}

@c @implementation
public func bh_tasks_reschedule(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ earliest_start_ms: Int64,
    _ latest_start_ms: Int64, _ timeout_ms: Int32, _ affected: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, count: affected, error) { () throws(Failure) in
        try reschedule(session, selection, earliest_start_ms, latest_start_ms)
    }
}
