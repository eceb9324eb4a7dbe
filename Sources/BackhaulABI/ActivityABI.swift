internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

@c @implementation
public func bh_session_set_activity(
    _ session: OpaquePointer?, _ activity: UnsafePointer<bh_activity>?, _ timeout_ms: Int32,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, error) { client throws(Failure) in
        let activity = try ActivityArgument.read(activity)
        return client.submit { .setActivity($0, activity) }
    }
}

@c @implementation
public func bh_session_remove_activity(
    _ session: OpaquePointer?, _ identifier: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, error) { client throws(Failure) in
        let identifier = try TextArgument.required(identifier, "identifier", limit: Limits.identifierSize)
        return client.submit { .removeActivity($0, identifier: identifier) }
    }
}

@c @implementation
public func bh_session_activities(
    _ session: OpaquePointer?, _ timeout_ms: Int32, _ activities: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, batch: activities, "activities", error) {
        $0.submit { .activities($0) }
    }
}
