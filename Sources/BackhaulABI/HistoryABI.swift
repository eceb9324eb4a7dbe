internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

private func attempts(_ session: OpaquePointer?, _ task: UInt64) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    return StartedVerb(session.client.attempts(TaskID(hostValue: task)), .batch, session.application)
}

@c @implementation
public func bh_task_attempts(
    _ session: OpaquePointer?, _ task_id: UInt64, _ timeout_ms: Int32,
    _ attempts: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: attempts, "attempts", error) { _ throws(Failure) in
        try BackhaulABI.attempts(session, task_id)
    }
}

private func history(_ session: OpaquePointer?, _ after: UInt64, _ maximum: Int) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    let maximum = UInt32(try NumberArgument.count(maximum, "maximum", in: 1...Limits.batchCount))
    return StartedVerb(
        session.client.history(after: TaskID(hostValue: after), maximum: maximum), .batch, session.application)
}

@c @implementation
public func bh_session_history(
    _ session: OpaquePointer?, _ after: UInt64, _ maximum: Int, _ timeout_ms: Int32,
    _ tasks: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: tasks, "tasks", error) { _ throws(Failure) in
        try history(session, after, maximum)
    }
}

private func waits(_ session: OpaquePointer?, _ task: UInt64) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    return StartedVerb(session.client.waits(TaskID(hostValue: task)), .batch, session.application)
}

@c @implementation
public func bh_task_waits(
    _ session: OpaquePointer?, _ task_id: UInt64, _ timeout_ms: Int32,
    _ waits: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: waits, "waits", error) { _ throws(Failure) in
        try BackhaulABI.waits(session, task_id)
    }
}
