internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

/// Converts the argument `role`. `waits`: whether the call waits until another handle has given up the right to read
/// the session's events.
private func roleValue(_ number: Int32) throws(Failure) -> (role: Role, waits: Bool) {
    if Int(number) == BH_ROLE_CONSUME_WHEN_FREE { return (.consume, true) }
    let names = "BH_ROLE_CONSUME, BH_ROLE_PRODUCE, BH_ROLE_OBSERVE or BH_ROLE_CONSUME_WHEN_FREE"
    return (try NumberArgument.value(number, "role", of: names), false)
}

// MARK: Create and attach

@c @implementation
public func bh_session_create(
    _ application: OpaquePointer?, _ configuration: UnsafePointer<bh_session_configuration>?, _ role: Int32,
    _ timeout_ms: Int32, _ session: UnsafeMutablePointer<OpaquePointer?>?,
    _ disposition: UnsafeMutablePointer<bh_session_disposition>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, session: session, disposition, error) {
        client throws(Failure) in
        let configuration = try ConfigurationArgument.read(configuration)
        let (role, waits) = try roleValue(role)
        return client.createSession(configuration, role, waits: waits)
    }
}

@c @implementation
public func bh_session_attach(
    _ application: OpaquePointer?, _ identifier: UnsafePointer<CChar>?, _ role: Int32, _ timeout_ms: Int32,
    _ session: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try ApplicationHandle(application), timeout_ms, session: session, nil, error) { client throws(Failure) in
        let identifier = try TextArgument.required(identifier, "identifier", limit: Limits.identifierSize)
        try SessionCheck.checkSession(identifier)
        let (role, waits) = try roleValue(role)
        return client.attachSession(identifier, role, waits: waits)
    }
}

// MARK: The handle

@c @implementation
public func bh_session_close(_ session: OpaquePointer?) {
    Call.plain {
        let client: SessionClient? = HandleTable.current.remove(session) { target in
            if case .session(let client, _) = target { client } else { nil }
        }
        client?.close()
    }
}

@c @implementation
public func bh_session_event_fd(
    _ session: OpaquePointer?, _ descriptor: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.immediate(error) { () throws(Failure) in
        let session = try SessionHandle(session)
        try NumberArgument.required(descriptor, "descriptor").pointee = session.client.eventDescriptor
    }
}

// MARK: Configuration

@c @implementation
public func bh_session_get_configuration(
    _ session: OpaquePointer?, _ timeout_ms: Int32, _ configuration: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, batch: configuration, "configuration", error) {
        $0.submit { .configuration($0) }
    }
}

@c @implementation
public func bh_session_set_configuration(
    _ session: OpaquePointer?, _ configuration: UnsafePointer<bh_session_configuration>?, _ timeout_ms: Int32,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, error) { client throws(Failure) in
        let configuration = try ConfigurationArgument.read(configuration, of: client.identifier)
        return client.submit { .updateConfiguration($0, configuration) }
    }
}

// MARK: Complete and invalidate

@c @implementation
public func bh_session_complete(
    _ session: OpaquePointer?, _ timeout_ms: Int32, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, error) { $0.complete() }
}

@c @implementation
public func bh_session_invalidate(
    _ session: OpaquePointer?, _ mode: Int32, _ timeout_ms: Int32, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, error) { client throws(Failure) in
        let cancelTasks =
            switch Int(mode) {
            case BH_INVALIDATE_FINISH: false
            case BH_INVALIDATE_CANCEL: true
            default:
                throw Failure(
                    .invalidArgument, "mode is \(mode); give BH_INVALIDATE_FINISH or BH_INVALIDATE_CANCEL")
            }
        return client.submit { .invalidate($0, cancelTasks: cancelTasks) }
    }
}
