internal import CBackhaul
internal import Synchronization

/// An application whose methods block the calling thread. Some methods of `BackhaulFoundation` are synchronous, as in
/// Apple's classes. These methods call the blocking methods on the program's thread. In all other cases,
/// `BackhaulFoundation` calls the blocking methods on its own threads.
package final class BlockingApplication: Sendable {
    // Unsafe: the handle is opaque, and is never dereferenced here.
    private let handle: Handle

    /// Opens the application.
    ///
    /// - Parameter timeout: The longest wait in milliseconds for the engine (the process that runs the tasks), or
    ///   BH_WAIT_DEFAULT.
    package init(_ options: ApplicationOptions, timeout: Int32 = BH_WAIT_DEFAULT) throws(BackhaulError) {
        handle = try options.open(timeout: timeout)
    }

    deinit { bh_application_close(handle.pointer) }

    package func createSession(
        _ configuration: SessionConfiguration, role: Role
    ) throws(BackhaulError) -> BlockingSession {
        let arena = Arena()
        var value = try configuration.value(arena)
        var session: OpaquePointer?
        try check { error in
            bh_session_create(handle.pointer, &value, role.rawValue, BH_WAIT_DEFAULT, &session, nil, error)
        }
        guard let session else { throw BackhaulError(BH_INTERNAL) }
        return try BlockingSession(self, Handle(pointer: session))
    }

    package func attachSession(_ identifier: String, role: Role) throws(BackhaulError) -> BlockingSession {
        let arena = Arena()
        let name = try arena.string(identifier, "the session's identifier")
        var session: OpaquePointer?
        try check { error in
            bh_session_attach(handle.pointer, name, role.rawValue, BH_WAIT_DEFAULT, &session, error)
        }
        guard let session else { throw BackhaulError(BH_INTERNAL) }
        return try BlockingSession(self, Handle(pointer: session))
    }

    /// Waits until the session has no other consumer (reader of its events), and then attaches as consumer. The wait
    /// has no time limit. The method calls `isOver` several times a second. If `isOver` returns true, the method stops
    /// waiting and returns nil.
    package func consumeSession(
        _ identifier: String, isOver: () -> Bool
    ) throws(BackhaulError) -> BlockingSession? {
        let arena = Arena()
        let name = try arena.string(identifier, "the session's identifier")
        let ticket = try start { error in
            bh_session_attach(handle.pointer, name, Role.consumeWhenFree.rawValue, BH_START, nil, error)
        }
        defer { bh_ticket_release(ticket.pointer) }
        while !isOver() {
            let start = ContinuousClock.now
            do throws(BackhaulError) {
                try check { error in bh_ticket_wait(ticket.pointer, 200, error) }
            } catch {
                // `.engineUnresponsive` has two meanings: the attach has failed with this status, or the engine has not
                // replied yet. If the attach has failed, bh_ticket_wait returns immediately.
                let hasWaited = ContinuousClock.now - start >= .milliseconds(100)
                if error.status == .timeout || error.status == .engineUnresponsive && hasWaited { continue }
                throw error
            }
            var session: OpaquePointer?
            try check { error in bh_ticket_session(ticket.pointer, &session, nil, error) }
            guard let session else { throw BackhaulError(BH_INTERNAL) }
            return try BlockingSession(self, Handle(pointer: session))
        }
        return nil
    }

    /// Returns the sessions that have a new reason for attention, such as a challenge (a demand for a credential).
    /// Waits up to `timeout` milliseconds for the first session.
    package func poll(timeout: Int32) throws(BackhaulError) -> [SessionInfo] {
        try batch { bh_application_poll(handle.pointer, timeout, $0, $1) }.sessions()
    }

    package func sessions() throws(BackhaulError) -> [SessionInfo] {
        try batch { bh_application_sessions(handle.pointer, BH_WAIT_DEFAULT, $0, $1) }.sessions()
    }

    package func currentLaunch() throws(BackhaulError) -> Launch? {
        try batch { bh_application_current_launch(handle.pointer, BH_WAIT_DEFAULT, $0, $1) }.launch()
    }

    package func setLaunch(_ command: LaunchCommand) throws(BackhaulError) {
        let arena = Arena()
        var value = try command.value(arena)
        try check { error in
            bh_application_set_launch(handle.pointer, &value, BH_WAIT_DEFAULT, error)
        }
    }
}

/// Calls a function that returns a batch, which is a list in C.
func batch(
    _ body: (UnsafeMutablePointer<OpaquePointer?>, UnsafeMutablePointer<bh_error>) -> bh_status
) throws(BackhaulError) -> Batch {
    var batch: OpaquePointer?
    try check { error in body(&batch, error) }
    return Batch(batch)
}
