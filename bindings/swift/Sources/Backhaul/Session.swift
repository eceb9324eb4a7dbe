internal import CBackhaul
internal import Synchronization

/// A handle to a session: a named collection of tasks with a stored configuration.
///
/// The handle is freed by `close`, or when its last reference is released. Transfers then continue, and unacknowledged
/// events stay.
///
/// All methods may be called from any Swift task, and none of them blocks the calling thread. When the calling task is
/// cancelled, they throw `CancellationError` immediately; the operation in the engine continues.
public final class Session: Sendable {
    public let identifier: String
    public let role: Role
    /// Whether `Application.createSession` created the session.
    public let isNew: Bool
    /// The session's application. This reference keeps it open.
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

    /// Frees the handle and releases its role, so that another process may consume the session. A repeated call has no
    /// effect.
    public func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        // This must come before the library closes the descriptors, because the process may then reuse their numbers.
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

    /// Replaces the stored configuration. It applies to attempts that start later. Rate and task limits, and shorter
    /// delays and time-outs, apply immediately.
    public func setConfiguration(_ configuration: SessionConfiguration) async throws {
        let arena = Arena()
        var value = try configuration.value(arena)
        try await verb { bh_session_set_configuration($0, &value, BH_START, $1) } take: { _ in }
    }

    /// Ends the session: no task can be enqueued. It is removed when all its tasks have ended and all its events are
    /// acknowledged.
    ///
    /// - Parameter cancellingTasks: True: the tasks are cancelled. False: they run to their end.
    public func invalidate(cancellingTasks: Bool = false) async throws {
        let mode = Int32(cancellingTasks ? BH_INVALIDATE_CANCEL : BH_INVALIDATE_FINISH)
        try await verb { bh_session_invalidate($0, mode, BH_START, $1) } take: { _ in }
    }

    // MARK: Enqueue

    /// Enqueues a download. The task is durable when this returns.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - destination: Absolute path of the file to make; nil: the file is kept in the store until it is claimed.
    ///   - key: The idempotency key. A call with the same key returns the same task, until the event at the end of its
    ///     round is acknowledged. The task may have ended. If its event was acknowledged, it is not delivered again;
    /// see
    ///     `enqueue(_:)`.
    @discardableResult
    public func download(
        _ url: String, to destination: String? = nil, key: String? = nil, ifExists: ExistsPolicy = .fail
    ) async throws -> TaskID {
        let request = Request(url: url, destination: destination, idempotencyKey: key, ifExists: ifExists)
        let enqueued = try await enqueue([request])
        guard let first = enqueued.first else { throw BackhaulError(BH_INTERNAL) }
        return first.taskID
    }

    /// Enqueues an upload. The task is durable when this returns.
    ///
    /// With `Body.Source.reference`, the default, a body's file must exist until the task has ended. The event has the
    /// response's body.
    ///
    /// - Parameter method: The HTTP method; nil: PUT, or POST for a form.
    @discardableResult
    public func upload(_ body: Body, to url: String, method: String? = nil, key: String? = nil) async throws -> TaskID {
        var request = Request(url: url, idempotencyKey: key)
        request.body = body
        request.method = method
        let enqueued = try await enqueue([request])
        guard let first = enqueued.first else { throw BackhaulError(BH_INTERNAL) }
        return first.taskID
    }

    /// Enqueues requests, durably. All are checked first; if one is invalid, the call throws and the error's `index` is
    /// its
    /// number.
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

    /// The session's events, beginning with the first unacknowledged one. The sequence waits for further events and
    /// does not end. For consumers only.
    ///
    /// Each new iteration starts with the first unacknowledged event. So no event is lost if the host fails between
    /// receiving and acknowledging it.
    public var events: EventSequence { EventSequence(session: self, after: 0) }

    /// The events with ids greater than `after`, as `events`.
    public func events(after: EventID) -> EventSequence { EventSequence(session: self, after: after) }

    /// Returns the events with ids greater than `after`, without waiting for one. The same `after` returns the same
    /// events
    /// until they are acknowledged.
    ///
    /// - Parameters:
    ///   - after: The id of the last event that was returned, or 0.
    ///   - maximum: 1 to 10,000.
    /// - Returns: The events, and whether there are more.
    public func poll(after: EventID = 0, maximum: Int = 256) async throws -> (events: [Event], more: Bool) {
        try await verb {
            bh_session_poll($0, after, maximum, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            let batch = try outcome.batch()
            return (batch.events(), batch.hasMore)
        }
    }

    /// Acknowledges the event: it is not delivered again, and its kept file is removed unless it was claimed.
    public func acknowledge(_ event: Event) async throws { try await acknowledge([event]) }

    /// Acknowledges events: they are not delivered again, and their kept files are removed unless they were claimed.
    ///
    /// - Returns: The number of events removed. Events that no longer exist are skipped, so the call may be repeated.
    @discardableResult
    public func acknowledge(_ events: [Event]) async throws -> UInt64 { try await acknowledge(ids: events.map(\.id)) }

    /// Acknowledges events by their ids, as `acknowledge(_:)`. The ids may come from an earlier run of the host.
    @discardableResult
    public func acknowledge(ids: [EventID]) async throws -> UInt64 {
        if ids.isEmpty { return 0 }
        return try await verb {
            bh_session_acknowledge($0, ids, ids.count, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            try outcome.count()
        }
    }

    /// Acknowledges all events of the session up to and including this one.
    @discardableResult
    public func acknowledge(through event: Event) async throws -> UInt64 {
        try await verb {
            bh_session_acknowledge_through($0, event.id, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            try outcome.count()
        }
    }

    /// Reports that the host has processed all events that it received. It ends the launch for this session.
    ///
    /// - Throws: `BackhaulError` with `.eventsOutstanding` when events that this handle received are not acknowledged.
    public func complete() async throws { try await verb { bh_session_complete($0, BH_START, $1) } take: { _ in } }

    // MARK: Within

    /// Waits until there are events that this handle has not received.
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
