internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

private func set(
    _ application: OpaquePointer?, _ limits: UnsafePointer<bh_limits>?
) throws(Failure) -> StartedVerb {
    let application = try ApplicationHandle(application)
    return StartedVerb(application.client.setLimits(try LimitsArgument.read(limits)), .empty, application)
}

@c @implementation
public func bh_store_set_limits(
    _ application: OpaquePointer?, _ limits: UnsafePointer<bh_limits>?, _ timeout_ms: Int32,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, error, { _ throws(Failure) in try set(application, limits) })
}

private func get(_ application: OpaquePointer?) throws(Failure) -> StartedVerb {
    let application = try ApplicationHandle(application)
    return StartedVerb(application.client.limits(), .batch, application)
}

@c @implementation
public func bh_store_limits(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ limits: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: limits, "limits", error) { _ throws(Failure) in try get(application) }
}
