internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

@c @implementation
public func bh_application_set_launch(
    _ application: OpaquePointer?, _ command: UnsafePointer<bh_launch_command>?, _ timeout_ms: Int32,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, error) { client throws(Failure) in
        let command = try command.map { pointer throws(Failure) in try LaunchArgument.read(pointer) }
        return client.submit(.setLaunch(command))
    }
}

@c @implementation
public func bh_store_launches(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ launches: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, batch: launches, "launches", error) {
        $0.submit(.launches)
    }
}

@c @implementation
public func bh_application_current_launch(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ launch: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, batch: launch, "launch", error) {
        $0.submit(.currentLaunch)
    }
}
