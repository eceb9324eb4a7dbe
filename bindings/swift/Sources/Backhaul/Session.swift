internal import CBackhaul
internal import Synchronization

/// A handle to a session. A session is a named collection of tasks with a stored configuration. The engine is the
/// process that runs the tasks. The host is the program that uses the library. It acknowledges each event that it has
/// processed. The consumer is the handle that reads the session's events.
///
/// The handle is closed when `close` is called, or when the last reference to this object is released. The transfers
/// then continue, and unacknowledged events stay stored.
///
/// All methods may be called from any Swift task. No method blocks the calling thread. If the calling Swift task is
/// cancelled, the method throws `CancellationError` immediately. The operation in the engine continues. Enqueues and
/// claims first check files and directories. A cancellation does not end this check. If the file system does not
/// respond, the other methods of the application wait as well.
public final class Session: Sendable {
    /// The session's identifier, which is unique in its application.
    public let identifier: String
    /// What this handle may do.
    public let role: Role
    /// Whether `Application.createSession` created the session. False if the session existed before.
    public let isNew: Bool
    /// The session's application. This reference keeps the application open.
    public let application: Application
    // Unsafe: the handle is opaque, and is never dereferenced here.
    private let handle: Handle
    private let descriptor: Int32
    let progressDescriptor: Int32
    private let isClosed = Mutex(false)
    private let polls = Mutex(UInt64(0))
    private let lastReturned = Mutex<EventID?>(nil)
    /// The number of the newest watch of the session's progress.
    private let newestWatch = Mutex(UInt64(0))
    let endings = EndingReader()

    init(
        _ application: Application, _ handle: Handle, identifier: String, role: Role, isNew: Bool
    ) throws(BackhaulError) {
        self.application = application
        self.handle = handle
        self.identifier = identifier
        self.role = role
        self.isNew = isNew
        (descriptor, progressDescriptor) = try handle.sessionDescriptors()
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
        // The driver (the application's thread) must forget the descriptors before the library closes them, because the
        // process may reuse the numbers of closed descriptors.
        driver.forget(descriptor)
        driver.forget(progressDescriptor)
        bh_session_close(handle.pointer)
    }

    // MARK: Configuration

    /// Returns the stored configuration. Properties that the host has not set have their defaults.
    public func configuration() async throws -> SessionConfiguration {
        guard let configuration = try await run(.configuration) else { throw BackhaulError(BH_INTERNAL) }
        return configuration
    }

    /// Replaces the stored configuration. The new configuration applies to attempts (runs of tasks) that start later.
    /// Some properties apply immediately: `constraints`, `budget`, `cookies`, `bytesPerSecond`, `maximumRunningTasks`,
    /// `connectionsPerOrigin`, `historyLimit`, shorter delays, and a shorter `resourceTimeout`.
    public func setConfiguration(_ configuration: SessionConfiguration) async throws {
        try await run(.setConfiguration(configuration))
    }

    /// Ends the session: no further task can be enqueued. When all tasks of the session have ended and all its events
    /// are acknowledged, the session is removed.
    ///
    /// - Parameter cancellingTasks: Whether the tasks are cancelled. If it is false, the tasks continue until they end.
    public func invalidate(cancellingTasks: Bool = false) async throws {
        try await run(.invalidate(cancellingTasks: cancellingTasks))
    }

    // MARK: Enqueue

    /// Enqueues a download. When this method returns, the task is stored.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - destination: The absolute path at which the file is placed. If it is nil, the file is kept in the store, and
    ///     the host can move it with `claim`.
    ///   - key: The idempotency key. A later call with the same key and the same arguments makes no new task: it
    ///     returns the task of the first call, even if this task has ended. If the task has failed or was cancelled,
    ///     the key is free again after the host has acknowledged the event about the end of the task. If the task has
    ///     succeeded, the key is free again after the host has acknowledged the event that all tasks of the session
    ///     have ended. To find out whether the returned task has ended, call `enqueue(_:)` instead, which also returns
    ///     the state of the task.
    ///   - ifExists: What the engine does if a file exists at the destination.
    @discardableResult
    public func download(
        _ url: String, to destination: String? = nil, key: String? = nil, ifExists: ExistsPolicy = .fail
    ) async throws -> TaskID {
        let request = Request(url: url, destination: destination, idempotencyKey: key, ifExists: ifExists)
        let enqueued = try await enqueue([request])
        guard let first = enqueued.first else { throw BackhaulError(BH_INTERNAL) }
        return first.taskID
    }

    /// Enqueues an upload. When this method returns, the task is stored.
    ///
    /// With `Body.Source.reference`, which is the default, the file of a body must exist until the task has ended. The
    /// event at the end of the task has the body of the response.
    ///
    /// - Parameters:
    ///   - body: What is sent.
    ///   - url: An http or https URL.
    ///   - method: The HTTP method. Nil means PUT, or POST for a form.
    ///   - key: The idempotency key (see `download`).
    @discardableResult
    public func upload(_ body: Body, to url: String, method: String? = nil, key: String? = nil) async throws -> TaskID {
        var request = Request(url: url, idempotencyKey: key)
        request.body = body
        request.method = method
        let enqueued = try await enqueue([request])
        guard let first = enqueued.first else { throw BackhaulError(BH_INTERNAL) }
        return first.taskID
    }

    /// Enqueues requests. When this method returns, the tasks are stored. The library checks all requests first. If a
    /// request is invalid, the method throws, and `index` of the error is the index of that request.
    ///
    /// - Throws: `BackhaulError`. Requests are applied in chunks. If the engine refuses a request, no request of its
    ///   chunk is applied. Other chunks may be applied even then. If all requests have idempotency keys, the call may
    ///   be repeated.
    @discardableResult
    public func enqueue(_ requests: [Request]) async throws -> [Enqueued] { try await run(.enqueue(requests)) }

    // MARK: Events

    /// The session's events. The sequence waits for further events, and does not end. Only consumers can use this
    /// sequence.
    ///
    /// Each new iteration starts with the first unacknowledged event. So no event is lost if the host crashes before it
    /// has acknowledged the event.
    public var events: EventSequence { EventSequence(session: self, after: nil) }

    /// Returns a sequence like `events`, which has only the events with ids greater than `after`.
    public func events(after: EventID) -> EventSequence { EventSequence(session: self, after: after) }

    /// Returns the available events with ids greater than `after`, and does not wait for further ones. Calls with the
    /// same `after` return the same events until these events are acknowledged.
    ///
    /// - Parameters:
    ///   - after: The id of the last event that an earlier call returned. With nil, the first event is the oldest
    ///     one that is not acknowledged.
    ///   - maximum: The largest number of events to return: 1 to 10,000.
    /// - Returns: The events, and whether there are more.
    public func poll(after: EventID? = nil, maximum: Int = 256) async throws -> (events: [Event], more: Bool) {
        let (events, hasMore) = try await receive(after: after, maximum: pageSize(maximum))
        if let last = events.last?.id { lastReturned.withLock { $0 = max($0 ?? last, last) } }
        return (events, hasMore)
    }

    /// Acknowledges the event. The event is not delivered again. If the store keeps the task's file, and the file was
    /// not claimed, the file is removed.
    public func acknowledge(_ event: Event) async throws { try await acknowledge([event]) }

    /// Acknowledges events. The events are not delivered again. If the store keeps the file of an event's task, and the
    /// file was not claimed, the file is removed.
    ///
    /// - Returns: The number of events that were removed. Events that no longer exist are skipped. Therefore, the call
    ///   may be repeated.
    @discardableResult
    public func acknowledge(_ events: [Event]) async throws -> UInt64 { try await acknowledge(ids: events.map(\.id)) }

    /// Does the same as `acknowledge(_:)` for the ids of events. The ids may come from an earlier run of the host.
    @discardableResult
    public func acknowledge(ids: [EventID]) async throws -> UInt64 { try await run(.acknowledge(ids)) }

    /// Acknowledges this event, and all earlier events of the session.
    @discardableResult
    public func acknowledge(through event: Event) async throws -> UInt64 {
        try await run(.acknowledge(through: event.id))
    }

    /// States that the host has processed all events that it received. If the engine launched (started) a host for this
    /// session, this call ends the launch for this session: the host has now done what the session needed.
    ///
    /// If the host has waited with `ending(of:)` or `downloadFile`, and has not received the events about the ends of
    /// rounds and groups by itself, this call first acknowledges these events. The keys of the succeeded tasks are then
    /// free.
    ///
    /// - Throws: `BackhaulError` with `.eventsOutstanding` if this handle has received events that the host has not
    ///   acknowledged.
    public func complete() async throws {
        if endings.wereUsed { try await acknowledgeUnreadEnds() }
        try await run(.complete)
    }

    // MARK: Internal

    /// Polls for events. The caller is the host's own poll, or the reader of `endings`.
    func receive(after: EventID?, maximum: Int) async throws -> (events: [Event], more: Bool) {
        var events: [Event]?
        // A cancelled poll counts as well, because the library does not report its events again.
        defer { if events?.isEmpty != true { countPoll() } }
        let hasMore: Bool
        (events, hasMore) = try await run(.poll(after: after, maximum: maximum))
        endings.received(events ?? [])
        return (events ?? [], hasMore)
    }

    /// The last event that `poll` has returned to the host.
    var lastReturnedEvent: EventID? { lastReturned.withLock { $0 } }

    /// The number of polls that were not empty.
    var fruitfulPolls: UInt64 { polls.withLock { $0 } }

    /// Waits until the session has events that this handle has not received, or until a further poll was not empty.
    ///
    /// - Parameter count: The value of `fruitfulPolls` before the caller's last poll. The descriptor is readable only
    ///   while there are events that no poll has returned. So if two readers poll the session, each of them must also
    ///   wake when the other one has received events.
    func eventsReady(since count: UInt64) async throws {
        try await driver.readable(descriptor) { [weak self] () throws(BackhaulError) in
            guard let self, isOpen else { throw .closed }
            return fruitfulPolls == count
        }
    }

    private func countPoll() {
        polls.withLock { $0 += 1 }
        driver.resume(descriptor)
    }

    /// Starts a watch of the session's progress, which replaces an earlier one. Returns the number of the watch.
    func startWatch(milliseconds: UInt32) async throws -> UInt64 {
        try Task.checkCancellation()
        let (verb, handle) = (Verb<Session, Void>.watchProgress(milliseconds: milliseconds), try open())
        // The engine gets commands in the order of their starts. Because they start while the mutex is locked, the stop
        // of an earlier watch cannot follow the start of this one.
        let started: (number: UInt64, ticket: Handle) = try newestWatch.withLock { newest in
            let ticket = try verb.ticket(handle)
            newest += 1
            return (newest, ticket)
        }
        do {
            try await driver.result(of: verb, started.ticket)
        } catch {
            // After a cancellation or a time-out, the engine starts the watch nevertheless. This Swift task may be
            // cancelled, so another one stops the watch.
            Task { [self, number = started.number] in try? await stopWatch(number) }
            throw error
        }
        return started.number
    }

    /// Stops the watch with this number, unless a later watch has replaced it.
    func stopWatch(_ number: UInt64) async throws {
        let (verb, handle) = (Verb<Session, Void>.watchProgress(milliseconds: 0), try open())
        let ticket: Handle? = try newestWatch.withLock { newest in
            try newest == number ? verb.ticket(handle) : nil
        }
        if let ticket { try await driver.result(of: verb, ticket) }
    }

    var isOpen: Bool { isClosed.withLock { !$0 } }

    func open() throws(BackhaulError) -> Handle {
        guard isOpen else { throw .closed }
        return handle
    }

    func run<Value>(_ verb: Verb<Session, Value>) async throws -> Value {
        if let known = verb.known { return known }
        return try await driver.run(verb, try open())
    }
}
