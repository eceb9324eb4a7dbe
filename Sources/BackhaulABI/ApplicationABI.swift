internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

private enum Options {
    static let minimumSize = StructArgument.end(of: \bh_application_options.launch)
}

@c @implementation
public func bh_application_open(
    _ options: UnsafePointer<bh_application_options>?, _ timeout_ms: Int32,
    _ application: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.immediate(error) { () throws(Failure) in
        let given = try StructArgument.read(
            NumberArgument.required(options, "options"), "options", into: bh_application_options(),
            minimumSize: Options.minimumSize)
        let application = try NumberArgument.required(application, "application")
        let identifier = try TextArgument.required(given.identifier, "options.identifier", limit: Limits.identifierSize)
        try SessionCheck.checkApplication(identifier)
        let deadline = try Timeout.deadline(timeout_ms)
        let (options, launch) = try OptionsArgument.read(given, application: identifier)
        ProcessOrigin.noteOpening()
        let client = try ApplicationClient.open(options, until: timeout_ms == 0 ? nil : deadline)
        do throws(Failure) {
            if let launch { try register(launch, client, until: timeout_ms == 0 ? nil : deadline) }
            application.pointee = try HandleTable.current.insert(.application(client))
        } catch let failure {
            client.close()
            throw failure
        }
    }
}

/// Sends the launch command to the engine, which runs the tasks. With this command, the engine can start the host's
/// program. The function waits until the engine has stored the command. If the deadline is nil, the function does not
/// wait.
private func register(
    _ launch: LaunchCommand, _ client: ApplicationClient, until deadline: Deadline?
) throws(Failure) {
    let ticket = client.submit(.setLaunch(launch))
    guard let deadline else { return }
    switch ticket.wait(until: deadline) {
    case .reply(.failed(let failure)): throw failure
    case nil: throw client.timeoutFailure(hasTicket: false)
    default: break
    }
}

@c @implementation
public func bh_application_close(_ application: OpaquePointer?) {
    Call.plain { HandleTable.current.removeApplication(application)?.close() }
}

@c @implementation
public func bh_application_event_fd(
    _ application: OpaquePointer?, _ descriptor: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.immediate(error) { () throws(Failure) in
        let application = try ApplicationHandle(application)
        try NumberArgument.required(descriptor, "descriptor").pointee = application.client.eventDescriptor
    }
}

@c @implementation
public func bh_application_poll(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ sessions: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.immediate(error) { () throws(Failure) in
        let application = try ApplicationHandle(application)
        let sessions = try NumberArgument.required(sessions, "sessions")
        let found = try application.client.poll(until: Timeout.deadline(timeout_ms))
        sessions.pointee = try Batch(found, bh_session_info.init(_:in:)).handle()
    }
}

@c @implementation
public func bh_application_sessions(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ sessions: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, batch: sessions, "sessions", error) {
        $0.sessions()
    }
}

@c @implementation
public func bh_store_engine(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ engine: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, batch: engine, "engine", error) { $0.submit(.engine) }
}

@c @implementation
public func bh_store_metrics(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ metrics: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, batch: metrics, "metrics", error) { $0.submit(.metrics) }
}

@c @implementation
public func bh_store_applications(
    _ application: OpaquePointer?, _ timeout_ms: Int32, _ applications: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, batch: applications, "applications", error) {
        $0.submit(.applications)
    }
}
