internal import CBackhaul
internal import Synchronization

/// A session whose methods block the calling thread. The session is closed when `close` is called, or when its last
/// reference is released.
package final class BlockingSession: Sendable {
    /// Whether `BlockingApplication.createSession` created the session. False if the session existed before.
    package let isNew: Bool
    /// A descriptor that is readable while there are events that no poll has returned.
    package let eventDescriptor: Int32
    /// A descriptor that is readable while there are progress readings that `pollProgress` has not returned.
    package let progressDescriptor: Int32
    // Unsafe: the handle is opaque, and is never dereferenced here.
    private let handle: Handle
    private let application: BlockingApplication
    private let patience: Patience
    private let isClosed = Mutex(false)

    init(
        _ application: BlockingApplication, _ handle: Handle, isNew: Bool, _ patience: Patience
    ) throws(BackhaulError) {
        self.application = application
        self.handle = handle
        self.isNew = isNew
        self.patience = patience
        (eventDescriptor, progressDescriptor) = try handle.sessionDescriptors()
    }

    deinit { close() }

    /// Closes the session. Later calls throw. A second `close` has no effect.
    package func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        if isFirst { bh_session_close(handle.pointer) }
    }

    @discardableResult
    package func run<Value>(_ verb: Verb<Session, Value>) throws(BackhaulError) -> Value {
        if let known = verb.known { return known }
        return try patience.run(verb, handle)
    }

    package func configuration() throws(BackhaulError) -> SessionConfiguration {
        guard let configuration = try run(.configuration) else { throw BackhaulError(BH_INTERNAL) }
        return configuration
    }

    package func enqueue(_ request: Request) throws(BackhaulError) -> TaskID {
        guard let first = try run(.enqueue([request])).first else { throw BackhaulError(BH_INTERNAL) }
        return first.taskID
    }

    /// Returns the available progress readings, and does not wait for new ones.
    package func pollProgress() throws(BackhaulError) -> [TaskProgress] {
        // Unsafe: the batch is released when it is deinitialized.
        var batch: OpaquePointer?
        try check { error in bh_session_poll_progress(handle.pointer, 0, &batch, error) }
        return Batch(batch).progress()
    }

    /// Returns all tasks of the selection. The method reads the tasks in pages.
    package func tasks(_ selection: TaskSelection) throws(BackhaulError) -> [TaskInfo] {
        var tasks: [TaskInfo] = []
        while true {
            let page = try run(.tasks(selection, after: tasks.last?.id, maximum: 1000))
            tasks += page.tasks
            if page.tasks.isEmpty || !page.more { return tasks }
        }
    }
}
