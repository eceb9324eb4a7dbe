internal import CBackhaul
internal import Synchronization

/// A handle on a session: a named collection of tasks with a stored configuration. It is freed by `close`, or with
/// its last reference; transfers go on, and unacknowledged events stay.
///
/// All methods may be called from any Swift task, and none of them blocks the thread that it is called on. When the
/// calling task is cancelled they throw `CancellationError` at once; their operation goes on.
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

    /// The stored configuration with its defaults filled in.
    public func configuration() async throws -> SessionConfiguration {
        let configurations = try await listing(bh_session_get_configuration) { $0.configurations() }
        guard let configuration = configurations.first else { throw BackhaulError(BH_INTERNAL) }
        return configuration
    }

    /// Replaces the stored configuration. It applies to attempts that start after that.
    public func setConfiguration(_ configuration: SessionConfiguration) async throws {
        let arena = Arena()
        var value = try configuration.value(arena)
        try await verb { bh_session_set_configuration($0, &value, BH_START, $1) } take: { _ in }
    }

    /// Ends the session: no task can be enqueued. It is removed when all its tasks have ended and all its events are
    /// acknowledged.
    ///
    /// - Parameter cancellingTasks: The tasks are cancelled. False: they run to their end.
    public func invalidate(cancellingTasks: Bool = false) async throws {
        let mode = Int32(cancellingTasks ? BH_INVALIDATE_CANCEL : BH_INVALIDATE_FINISH)
        try await verb { bh_session_invalidate($0, mode, BH_START, $1) } take: { _ in }
    }

    // MARK: Enqueue

    /// Enqueues a download. It is durable when this returns.
    ///
    /// - Parameters:
    ///   - url: http or https.
    ///   - destination: Absolute path of the file to make; nil: kept in the store until claimed.
    ///   - key: The same key again finds the same task, until the end of its round is acknowledged. It may have ended,
    ///     and its event may be acknowledged: then no event of it comes again. See `enqueue(_:)`.
    @discardableResult
    public func download(
        _ url: String, to destination: String? = nil, key: String? = nil, ifExists: ExistsPolicy = .fail
    ) async throws -> TaskID {
        let request = Request(url: url, destination: destination, idempotencyKey: key, ifExists: ifExists)
        let enqueued = try await enqueue([request])
        guard let first = enqueued.first else { throw BackhaulError(BH_INTERNAL) }
        return first.taskID
    }

    /// Enqueues an upload: by PUT, a form by POST. It is durable when this returns; a file is needed until the task has
    /// ended, unless its `Body.Source` says otherwise. The event has the response's body.
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

    /// Enqueues requests, durably. All are checked first, and a bad one refuses the call, with its number in the
    /// error's `index`.
    ///
    /// - Throws: `BackhaulError`. Requests are applied in chunks. When the engine refuses one, no request of its chunk
    ///   is applied; other chunks may be. Requests with keys may be enqueued again.
    @discardableResult
    public func enqueue(_ requests: [Request]) async throws -> [Enqueued] {
        if requests.isEmpty { return [] }
        let prepared = try PreparedRequests(requests)
        let handle = try open()
        return try await driver.slowVerb { _, error in
            prepared.enqueue(handle, BH_START, nil, error)
        } take: { outcome throws(BackhaulError) in
            try outcome.done()
            return try outcome.batch().enqueued()
        }
    }

    // MARK: Events

    /// The events from the first that is not acknowledged on. It waits for the next, without end. Consumers only.
    ///
    /// Each iteration starts with the first event that is not acknowledged, so that after a failure between receiving
    /// and acknowledging nothing is lost.
    public var events: EventSequence { EventSequence(session: self, after: 0) }

    /// The events with ids greater than `after`.
    public func events(after: EventID) -> EventSequence { EventSequence(session: self, after: after) }

    /// The events with ids greater than `after`, without waiting for one. The same `after` returns the same events
    /// until they are acknowledged.
    ///
    /// - Parameters:
    ///   - after: The id of the last event that was returned, or 0.
    ///   - maximum: 1 to 10,000.
    /// - Returns: the events, and whether there are more.
    public func poll(after: EventID = 0, maximum: Int = 256) async throws -> (events: [Event], more: Bool) {
        try await verb {
            bh_session_poll($0, after, maximum, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            let batch = try outcome.batch()
            return (batch.events(), batch.hasMore)
        }
    }

    /// Acknowledges the event: it is not delivered again, and a kept file of its that was not claimed is removed.
    public func acknowledge(_ event: Event) async throws { try await acknowledge([event]) }

    /// - Returns: the number of events removed. Events that are gone are skipped, so it may be repeated.
    @discardableResult
    public func acknowledge(_ events: [Event]) async throws -> UInt64 { try await acknowledge(ids: events.map(\.id)) }

    @discardableResult
    public func acknowledge(ids: [EventID]) async throws -> UInt64 {
        if ids.isEmpty { return 0 }
        return try await verb {
            bh_session_acknowledge($0, ids, ids.count, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            try outcome.count()
        }
    }

    /// Acknowledges all events of the session up to this one, which is included.
    @discardableResult
    public func acknowledge(through event: Event) async throws -> UInt64 {
        try await verb {
            bh_session_acknowledge_through($0, event.id, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            try outcome.count()
        }
    }

    /// Reports that the host has processed all events that were handed to it. It ends the launch for this session.
    ///
    /// - Throws: `BackhaulError` with `.eventsOutstanding` when events that this handle was handed are not
    ///   acknowledged.
    public func complete() async throws { try await verb { bh_session_complete($0, BH_START, $1) } take: { _ in } }

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
        _ start: Driver.Start, take: (Outcome) throws(BackhaulError) -> Value
    ) async throws -> Value {
        let handle = try open()
        return try await driver.verb { _, error in
            start(handle.pointer, error)
        } take: { outcome throws(BackhaulError) in
            try outcome.done()
            return try take(outcome)
        }
    }
    func listing<Value>(_ list: Driver.Listing, _ take: (borrowing Batch) -> Value) async throws -> Value {
        try await verb {
            list($0, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            take(try outcome.batch())
        }
    }
}
