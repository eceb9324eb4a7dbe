internal import CBackhaul
internal import Synchronization

/// A handle to a session. A session is a named collection of tasks with a stored configuration.
///
/// The handle is closed by `close`, or when its last reference is released. Transfers then continue, and unacknowledged
/// events stay.
///
/// All methods may be called from any Swift task, and none of them blocks the calling thread. If the calling task is
/// cancelled, a method throws `CancellationError` immediately, and its operation in the engine continues.
public final class Session: Sendable {
    public let identifier: String
    public let role: Role
    /// Whether `Application.createSession` created the session.
    public let isNew: Bool
    /// The session's application. This reference keeps the application open.
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

    /// Closes the handle. Another process may then consume the session. A second call has no effect.
    public func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        // The driver must forget the descriptors before the library closes them, because the process may then reuse
        // their numbers.
        driver.forget(descriptor)
        driver.forget(progressDescriptor)
        bh_session_close(handle.pointer)
    }

    // MARK: Configuration

    /// Returns the stored configuration. Properties that are not set have their defaults.
    public func configuration() async throws -> SessionConfiguration {
        let configurations = try await listing(bh_session_get_configuration) { $0.configurations() }
        guard let configuration = configurations.first else { throw BackhaulError(BH_INTERNAL) }
        return configuration
    }

    /// Replaces the stored configuration. It applies to attempts that start later. Limits of rates and tasks apply
    /// immediately, and so do shorter delays and time-outs.
    public func setConfiguration(_ configuration: SessionConfiguration) async throws {
        let arena = Arena()
        var value = try configuration.value(arena)
        try await verb { bh_session_set_configuration($0, &value, BH_START, $1) } take: { _ in }
    }

    /// Ends the session: no further task can be enqueued. The session is removed when all its tasks have ended, and all
    /// its events are acknowledged.
    ///
    /// - Parameter cancellingTasks: Whether the tasks are cancelled. False: they continue to their end.
    public func invalidate(cancellingTasks: Bool = false) async throws {
        let mode = Int32(cancellingTasks ? BH_INVALIDATE_CANCEL : BH_INVALIDATE_FINISH)
        try await verb { bh_session_invalidate($0, mode, BH_START, $1) } take: { _ in }
    }

    // MARK: Enqueue

    /// Enqueues a download. The task is stored when this method returns.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - destination: The absolute path at which the file is placed. Nil: the file is kept in the store until the
    ///     host claims it.
    ///   - key: The idempotency key. A later call with the same key returns the same task, until the event at the end
    ///     of its round is acknowledged. The task may have ended, and its event may be acknowledged: see `enqueue(_:)`.
    @discardableResult
    public func download(
        _ url: String, to destination: String? = nil, key: String? = nil, ifExists: ExistsPolicy = .fail
    ) async throws -> TaskID {
        let request = Request(url: url, destination: destination, idempotencyKey: key, ifExists: ifExists)
        let enqueued = try await enqueue([request])
        guard let first = enqueued.first else { throw BackhaulError(BH_INTERNAL) }
        return first.taskID
    }

    /// Enqueues an upload. The task is stored when this method returns.
    ///
    /// With `Body.Source.reference`, which is the default, the file of a body must exist until the task has ended. The
    /// event of the task has the body of the response.
    ///
    /// - Parameter method: The HTTP method. Nil: PUT, or POST for a form.
    @discardableResult
    public func upload(_ body: Body, to url: String, method: String? = nil, key: String? = nil) async throws -> TaskID {
        var request = Request(url: url, idempotencyKey: key)
        request.body = body
        request.method = method
        let enqueued = try await enqueue([request])
        guard let first = enqueued.first else { throw BackhaulError(BH_INTERNAL) }
        return first.taskID
    }

    /// Enqueues requests. The tasks are stored when this method returns. All requests are checked first. If one of them
    /// is invalid, the method throws, and `index` of the error is the index of the request.
    ///
    /// - Throws: `BackhaulError`. Requests are applied in chunks. If the engine refuses a request, no request of its
    ///   chunk is applied, but other chunks may have been applied. Requests with keys may be enqueued again.
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

    /// The session's events. The sequence waits for further events, and does not end. Only consumers can use it.
    ///
    /// Each new iteration starts with the first unacknowledged event. So no event is lost if the host fails after it
    /// has received the event and before it has acknowledged it.
    public var events: EventSequence { EventSequence(session: self, after: 0) }

    /// Returns the same sequence as `events`, but only with ids greater than `after`.
    public func events(after: EventID) -> EventSequence { EventSequence(session: self, after: after) }

    /// Returns the available events with ids greater than `after`, without waiting for others. Calls with the same
    /// `after` return the same events until these are acknowledged.
    ///
    /// - Parameters:
    ///   - after: The id of the last event that an earlier call returned, or 0.
    ///   - maximum: The largest number of events to return: 1 to 10,000.
    /// - Returns: The events, and whether there are more.
    public func poll(after: EventID = 0, maximum: Int = 256) async throws -> (events: [Event], more: Bool) {
        try await verb {
            bh_session_poll($0, after, maximum, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            let batch = try outcome.batch()
            return (batch.events(), batch.hasMore)
        }
    }

    /// Acknowledges the event. It is not delivered again, and its kept file is removed unless the file was claimed.
    public func acknowledge(_ event: Event) async throws { try await acknowledge([event]) }

    /// Acknowledges events. They are not delivered again, and their kept files are removed unless the files were
    /// claimed.
    ///
    /// - Returns: The number of events that were removed. An event that no longer exists is no error, so the call may
    ///   be repeated.
    @discardableResult
    public func acknowledge(_ events: [Event]) async throws -> UInt64 { try await acknowledge(ids: events.map(\.id)) }

    /// Does the same as `acknowledge(_:)` for the ids of events. The ids may come from an earlier run of the host.
    @discardableResult
    public func acknowledge(ids: [EventID]) async throws -> UInt64 {
        if ids.isEmpty { return 0 }
        return try await verb {
            bh_session_acknowledge($0, ids, ids.count, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            try outcome.count()
        }
    }

    /// Acknowledges this event, and all events of the session before it.
    @discardableResult
    public func acknowledge(through event: Event) async throws -> UInt64 {
        try await verb {
            bh_session_acknowledge_through($0, event.id, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            try outcome.count()
        }
    }

    /// States that the host has processed all events that it received. This ends the launch for this session.
    ///
    /// - Throws: `BackhaulError` with `.eventsOutstanding` if this handle received events that are not acknowledged.
    public func complete() async throws { try await verb { bh_session_complete($0, BH_START, $1) } take: { _ in } }

    // MARK: Internal

    /// Waits until the session has events that this handle has not received.
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
