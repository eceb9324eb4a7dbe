internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

@c @implementation
public func bh_store_set_limits(
    _ application: OpaquePointer?, _ limits: UnsafePointer<bh_limits>?, _ timeout_ms: Int32,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, error) { client throws(Failure) in
        client.submit(.setLimits(try LimitsArgument.read(limits)))
    }
}

@c @implementation
public func bh_store_limits(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ limits: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, batch: limits, "limits", error) { $0.submit(.limits) }
}
