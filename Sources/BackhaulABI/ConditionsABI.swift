internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

@c @implementation
public func bh_store_conditions(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ conditions: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, batch: conditions, "conditions", error) {
        $0.submit(.conditions)
    }
}

@c @implementation
public func bh_store_holds(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ holds: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, batch: holds, "holds", error) { $0.submit(.holds) }
}

@c @implementation
public func bh_store_networks(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ networks: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, batch: networks, "networks", error) {
        $0.submit(.networks)
    }
}

@c @implementation
public func bh_store_set_network(
    _ application: OpaquePointer?, _ network: UnsafePointer<bh_network>?, _ timeout_ms: Int32,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, error) { client throws(Failure) in
        client.submit(.setNetwork(try NetworkArgument.read(network)))
    }
}
