internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

/// Changes the selected tasks. `affected`: where the number of changed tasks is written.
private func apply(
    _ control: @autoclosure () throws(Failure) -> TaskControl, to selection: UnsafePointer<bh_task_selection>?,
    _ session: OpaquePointer?, _ timeout: Int32, _ affected: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout, count: affected, error) { client throws(Failure) in
        client.control(try control(), try SelectionArgument.read(selection))
    }
}

@c @implementation
public func bh_tasks_cancel(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ timeout_ms: Int32,
    _ affected: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    apply(.cancel, to: selection, session, timeout_ms, affected, error)
}

@c @implementation
public func bh_tasks_suspend(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ timeout_ms: Int32,
    _ affected: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    apply(.suspend, to: selection, session, timeout_ms, affected, error)
}

@c @implementation
public func bh_tasks_set_aside(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ timeout_ms: Int32,
    _ affected: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    apply(.setAside, to: selection, session, timeout_ms, affected, error)
}

@c @implementation
public func bh_tasks_resume(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ timeout_ms: Int32,
    _ affected: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    apply(.resume, to: selection, session, timeout_ms, affected, error)
}

@c @implementation
public func bh_tasks_set_priority(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ priority: Int32, _ timeout_ms: Int32,
    _ affected: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    apply(.setPriority(try NumberArgument.priority(priority)), to: selection, session, timeout_ms, affected, error)
}

@c @implementation
public func bh_tasks_set_rate(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ bytes_per_second: UInt64,
    _ timeout_ms: Int32, _ affected: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    apply(.setRate(PolicyArgument.unlessZero(bytes_per_second)), to: selection, session, timeout_ms, affected, error)
}

@c @implementation
public func bh_tasks_set_constraints(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?,
    _ constraints: UnsafePointer<bh_constraints>?, _ timeout_ms: Int32, _ affected: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    apply(
        .setConstraints(try ConstraintsArgument.read(constraints)), to: selection, session, timeout_ms, affected, error)
}

private func rescheduling(_ earliest: Int64, _ latest: Int64) throws(Failure) -> Rescheduling {
    let rescheduling = Rescheduling(
        earliest: try startChange(earliest, "earliest_start_ms"), latest: try startChange(latest, "latest_start_ms"))
    try RescheduleDecision.check(rescheduling)
    return rescheduling
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
    apply(
        .reschedule(try rescheduling(earliest_start_ms, latest_start_ms)), to: selection, session, timeout_ms, affected,
        error)
}
