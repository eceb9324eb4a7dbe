internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

private func set(
    _ application: OpaquePointer?, _ command: UnsafePointer<bh_launch_command>?
) throws(Failure) -> StartedVerb {
    let application = try ApplicationHandle(application)
    let command = try command.map { pointer throws(Failure) in try LaunchArgument.read(pointer) }
    return StartedVerb(application.client.setLaunch(command), .empty, application)
}

@c @implementation
public func bh_application_set_launch(
    _ application: OpaquePointer?, _ command: UnsafePointer<bh_launch_command>?, _ timeout_ms: Int32,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, error, { _ throws(Failure) in try set(application, command) })
}

private func list(_ application: OpaquePointer?) throws(Failure) -> StartedVerb {
    let application = try ApplicationHandle(application)
    return StartedVerb(application.client.launches(), .batch, application)
}

@c @implementation
public func bh_store_launches(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ launches: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: launches, "launches", error) { _ throws(Failure) in try list(application) }
}

private func current(_ application: OpaquePointer?) throws(Failure) -> StartedVerb {
    let application = try ApplicationHandle(application)
    return StartedVerb(application.client.currentLaunch(), .batch, application)
}

@c @implementation
public func bh_application_current_launch(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ launch: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: launch, "launch", error) { _ throws(Failure) in try current(application) }
}
