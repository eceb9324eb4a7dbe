internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

private func set(
    _ session: OpaquePointer?, _ activity: UnsafePointer<bh_activity>?
) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    return StartedVerb(session.client.setActivity(try ActivityArgument.read(activity)), .empty, session.application)
}

@c @implementation
public func bh_session_set_activity(
    _ session: OpaquePointer?, _ activity: UnsafePointer<bh_activity>?, _ timeout_ms: Int32,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, error, { _ throws(Failure) in try set(session, activity) })
}

private func remove(
    _ session: OpaquePointer?, _ identifier: UnsafePointer<CChar>?
) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    let identifier = try TextArgument.required(identifier, "identifier", limit: Limits.identifierSize)
    return StartedVerb(session.client.removeActivity(identifier), .empty, session.application)
}

@c @implementation
public func bh_session_remove_activity(
    _ session: OpaquePointer?, _ identifier: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, error, { _ throws(Failure) in try remove(session, identifier) })
}

private func activities(_ session: OpaquePointer?) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    return StartedVerb(session.client.activities(), .batch, session.application)
}

@c @implementation
public func bh_session_activities(
    _ session: OpaquePointer?, _ timeout_ms: Int32, _ activities: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: activities, "activities", error) { _ throws(Failure) in
        try BackhaulABI.activities(session)
    }
}
