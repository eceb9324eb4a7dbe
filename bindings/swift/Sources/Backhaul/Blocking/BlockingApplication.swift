internal import CBackhaul
internal import Synchronization

/// An application whose methods block the calling thread. The command line uses it. In `BackhaulFoundation`, some
/// methods are synchronous, as in Apple's classes, and call the blocking methods on the program's thread. In all other
/// cases, `BackhaulFoundation` calls the blocking methods on its own threads.
package final class BlockingApplication: Sendable {
    // Unsafe: the handle is opaque, and is never dereferenced here.
    private let handle: Handle
    private let patience: Patience
    private let isClosed = Mutex(false)

    /// Opens the application.
    ///
    /// - Parameter timeout: The longest wait for the engine in milliseconds, or BH_WAIT_DEFAULT. With 0, the first verb
    ///   waits for the engine.
    package init(
        _ options: ApplicationOptions, timeout: Int32 = BH_WAIT_DEFAULT, patience: Patience = .usual
    ) throws(BackhaulError) {
        handle = try options.open(timeout: timeout)
        self.patience = patience
    }

    deinit { close() }

    /// Closes the application. A second `close` has no effect.
    package func close() { if isFirstEnd { bh_application_close(handle.pointer) } }

    /// Leaves the application open until the process ends. Then `close` has no effect.
    package func leaveOpen() { _ = isFirstEnd }

    private var isFirstEnd: Bool {
        isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
    }

    @discardableResult
    package func run<Value>(_ verb: Verb<Application, Value>) throws(BackhaulError) -> Value {
        try patience.run(verb, handle)
    }

    package func createSession(
        _ configuration: SessionConfiguration, role: Role
    ) throws(BackhaulError) -> BlockingSession {
        try session(patience.run(.createSession(configuration, role), handle))
    }

    package func attachSession(_ identifier: String, role: Role) throws(BackhaulError) -> BlockingSession {
        try session(patience.run(.attachSession(identifier, role), handle))
    }

    /// Waits until the session has no other consumer, and then attaches as consumer. The wait has no time limit. The
    /// method calls `isOver` several times a second. If `isOver` returns true, the method stops waiting and returns
    /// nil.
    package func consumeSession(
        _ identifier: String, isOver: () -> Bool
    ) throws(BackhaulError) -> BlockingSession? {
        let verb = try Verb.attachSession(identifier, .consumeWhenFree)
        do {
            return try session(try Patience.run(verb, handle, until: isOver))
        } catch {
            guard error.status == .cancelled else { throw error }
            return nil
        }
    }

    private func session(_ created: (Handle, isNew: Bool)) throws(BackhaulError) -> BlockingSession {
        try BlockingSession(self, created.0, isNew: created.isNew, patience)
    }

    /// Returns the sessions that have a new reason for attention, such as a challenge. Waits up to `timeout`
    /// milliseconds for the first session.
    package func poll(timeout: Int32) throws(BackhaulError) -> [SessionInfo] {
        // Unsafe: the batch is released when it is deinitialized.
        var batch: OpaquePointer?
        try check { error in bh_application_poll(handle.pointer, timeout, &batch, error) }
        return Batch(batch).sessions()
    }
}
