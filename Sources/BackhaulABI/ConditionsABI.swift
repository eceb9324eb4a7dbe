internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

private func conditions(_ application: OpaquePointer?) throws(Failure) -> StartedVerb {
    let application = try ApplicationHandle(application)
    return StartedVerb(application.client.conditions(), .batch, application)
}

@c @implementation
public func bh_store_conditions(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ conditions: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: conditions, "conditions", error) { _ throws(Failure) in
        try BackhaulABI.conditions(application)
    }
}

private func holds(_ application: OpaquePointer?) throws(Failure) -> StartedVerb {
    let application = try ApplicationHandle(application)
    return StartedVerb(application.client.holds(), .batch, application)
}

@c @implementation
public func bh_store_holds(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ holds: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: holds, "holds", error) { _ throws(Failure) in
        try BackhaulABI.holds(application)
    }
}

private func networks(_ application: OpaquePointer?) throws(Failure) -> StartedVerb {
    let application = try ApplicationHandle(application)
    return StartedVerb(application.client.networks(), .batch, application)
}

@c @implementation
public func bh_store_networks(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ networks: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: networks, "networks", error) { _ throws(Failure) in
        try BackhaulABI.networks(application)
    }
}

private func set(
    _ application: OpaquePointer?, _ network: UnsafePointer<bh_network>?
) throws(Failure) -> StartedVerb {
    let application = try ApplicationHandle(application)
    return StartedVerb(application.client.setNetwork(try NetworkArgument.read(network)), .empty, application)
}

@c @implementation
public func bh_store_set_network(
    _ application: OpaquePointer?, _ network: UnsafePointer<bh_network>?, _ timeout_ms: Int32,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, error, { _ throws(Failure) in try set(application, network) })
}
