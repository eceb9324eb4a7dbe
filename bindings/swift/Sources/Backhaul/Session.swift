internal import CBackhaul
internal import Synchronization

/// A handle on a session: a named collection of tasks with a remembered configuration. It is freed by `close`, or with
/// its last reference; transfers go on, and unacknowledged events stay.
///
/// All methods may be called from any Swift task, and none of them blocks the thread that it is called on. When the
/// calling task is cancelled they throw `CancellationError` at once; what they had asked for may still happen.
public final class Session: Sendable {
    public let identifier: String
    public let role: Role
    /// True when `Application.createSession` made it.
    public let isNew: Bool
    /// Keeps the application open.
    public let application: Application
    // Unsafe: opaque handles of the library, never dereferenced here.
    private let handle: Handle
    private let descriptor: Int32
    let progressDescriptor: Int32
    let isClosed = Mutex(false)

    init(
        _ application: Application, _ handle: Handle, identifier: String, role: Role, isNew: Bool
    ) throws(BackhaulError) {
        self.application = application
        self.handle = handle
        self.identifier = identifier
        self.role = role
        self.isNew = isNew
        var descriptor: Int32 = -1
        try check { error in bh_session_event_fd(handle.pointer, &descriptor, error) }
        self.descriptor = descriptor
        try check { error in bh_session_progress_fd(handle.pointer, &descriptor, error) }
        progressDescriptor = descriptor
    }

    var driver: Driver { application.driver }

    deinit { close() }

    /// Gives up the role; another process may consume the session from now on. Harmless when repeated.
    public func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        // Before the library closes the descriptor, whose number then belongs to anyone.
        driver.forget(descriptor)
        driver.forget(progressDescriptor)
        bh_session_close(handle.pointer)
    }

    // MARK: Configuration

    /// The remembered configuration with its defaults filled in.
    public func configuration() async throws -> SessionConfiguration {
        let configurations = try await verb(bh_session_get_configuration_start) { answer throws(BackhaulError) in
            try answer.batch().configurations()
        }
        guard let configuration = configurations.first else { throw BackhaulError(BH_INTERNAL) }
        return configuration
    }

    /// Replaces the remembered configuration. Applies to attempts that start from now on.
    public func update(_ configuration: SessionConfiguration) async throws {
        let arena = Arena()
        var value = try configuration.value(arena)
        try await verb { bh_session_update_start($0, &value, $1, $2) } take: { _ in }
    }

    /// No further task can be enqueued; when all have ended and all events are acknowledged, the session is removed.
    ///
    /// - Parameter cancellingTasks: Cancel the tasks instead of letting them end.
    public func invalidate(cancellingTasks: Bool = false) async throws {
        let mode = Int32(cancellingTasks ? BH_INVALIDATE_CANCEL : BH_INVALIDATE_FINISH)
        try await verb { bh_session_invalidate_start($0, mode, $1, $2) } take: { _ in }
    }

    // MARK: Handing over

    /// Hands a download over. It is durable when this returns.
    ///
    /// - Parameters:
    ///   - url: http or https.
    ///   - destination: Absolute path of the file to make; nil: kept in the store until claimed.
    ///   - key: The same key again finds the same task, until the end of its round is acknowledged. It may have ended,
    ///     and its end may have been acknowledged: then no event of it comes again. `enqueue(_:)` tells.
    @discardableResult
    public func download(
        _ url: String, to destination: String? = nil, key: String? = nil, ifExists: ExistsPolicy = .fail
    ) async throws -> TaskID {
        let request = Request(url: url, destination: destination, idempotencyKey: key, ifExists: ifExists)
        let enqueued = try await enqueue([request])
        guard let first = enqueued.first else { throw BackhaulError(BH_INTERNAL) }
        return first.taskID
    }

    /// Hands an upload over: by PUT, a form by POST. It is durable when this returns; a file is needed until the task
    /// has ended, unless its `Body.Source` says otherwise. The event has the answer's body.
    ///
    /// - Parameter method: Nil: PUT, or POST for a form.
    @discardableResult
    public func upload(_ body: Body, to url: String, method: String? = nil, key: String? = nil) async throws -> TaskID {
        var request = Request(url: url, idempotencyKey: key)
        request.body = body
        request.method = method
        let enqueued = try await enqueue([request])
        guard let first = enqueued.first else { throw BackhaulError(BH_INTERNAL) }
        return first.taskID
    }

    /// Hands requests over, durably. All are checked before anything is applied; the error's `index` is the bad one.
    ///
    /// - Throws: `BackhaulError`. Large batches are applied in chunks: when one is refused, those before it stay.
    ///   Requests with keys may simply be handed over again.
    @discardableResult
    public func enqueue(_ requests: [Request]) async throws -> [Enqueued] {
        if requests.isEmpty { return [] }
        let prepared = try PreparedRequests(requests)
        let handle = try open()
        return try await driver.slowVerb { _, ticket, error in
            prepared.enqueue(handle, ticket, error)
        } take: { answer throws(BackhaulError) in
            try answer.done()
            return try answer.enqueued(capacity: requests.count)
        }
    }

    // MARK: Events

    /// What has ended, from the first unacknowledged event on: waits for the next, without end. Consumers only.
    ///
    /// Each iteration starts with the first event that is not acknowledged, so that after a failure between receiving
    /// and acknowledging nothing is lost.
    public var events: EventSequence { EventSequence(session: self, after: 0) }

    /// The events with ids greater than `after`.
    public func events(after: EventID) -> EventSequence { EventSequence(session: self, after: after) }

    /// The events that are there now, without waiting.
    ///
    /// - Parameters:
    ///   - after: The id of the last event that is known already, or 0.
    ///   - maximum: 1 to 10,000.
    /// - Returns: the events, and whether there are more.
    public func poll(after: EventID = 0, maximum: Int = 256) async throws -> (events: [Event], more: Bool) {
        try await verb {
            bh_session_poll_start($0, after, maximum, $1, $2)
        } take: { answer throws(BackhaulError) in
            let batch = try answer.batch()
            return (batch.events(), batch.hasMore)
        }
    }

    /// The event never comes again. An unclaimed kept file of it is removed. Harmless when repeated.
    public func acknowledge(_ event: Event) async throws { try await acknowledge([event]) }

    /// - Returns: how many were there.
    @discardableResult
    public func acknowledge(_ events: [Event]) async throws -> UInt64 { try await acknowledge(ids: events.map(\.id)) }

    @discardableResult
    public func acknowledge(ids: [EventID]) async throws -> UInt64 {
        if ids.isEmpty { return 0 }
        return try await verb(
            { bh_session_acknowledge_start($0, ids, ids.count, $1, $2) }, take: { answer throws(BackhaulError) in
                try answer.count()
            })
    }

    /// Acknowledges all events that were handed out, up to and including this one.
    @discardableResult
    public func acknowledge(through event: Event) async throws -> UInt64 {
        try await verb(
            { bh_session_acknowledge_through_start($0, event.id, $1, $2) }, take: { answer throws(BackhaulError) in
                try answer.count()
            })
    }

    /// The program has processed what it was handed and has nothing outstanding. Harmless when repeated.
    ///
    /// - Throws: `BackhaulError` with `.eventsOutstanding` when events were handed out and are not acknowledged.
    public func complete() async throws { try await verb(bh_session_complete_start) { _ in } }

    // MARK: Within

    /// Waits until there are events that were not handed out.
    func eventsReady() async throws {
        try await driver.readable(descriptor) { [weak self] in self?.isClosed.withLock { $0 } == false }
    }

    func open() throws(BackhaulError) -> Handle {
        if isClosed.withLock({ $0 }) { throw .closed }
        return handle
    }

    func verb<Value>(
        _ start: Driver.Start, take: (Answer) throws(BackhaulError) -> Value
    ) async throws -> Value {
        let handle = try open()
        return try await driver.verb { _, ticket, error in
            start(handle.pointer, ticket, error)
        } take: { answer throws(BackhaulError) in
            try answer.done()
            return try take(answer)
        }
    }
}
