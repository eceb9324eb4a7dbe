internal import BackhaulModel
internal import BackhaulPlatform

/// What the client (the part of the library in a host) stores about a session handle. Such a handle is the reference of
/// the host to a session. The *engine* runs the session's tasks, and sends the session's events.
struct AttachedSession: Sendable {
    let identifier: String
    let role: Role
    let descriptor: EventFD
    var isAttached = false
    /// Why the handle does not work any more; nil while the handle works. A handle stops working if a new engine cannot
    /// attach the session, if the session is removed, or if the host completes the session and thereby ends the handle.
    private(set) var failure: Failure?
    /// Whether the session was removed. The engine then forgets the handle when the host closes it.
    private(set) var isRemoved = false
    /// Whether no call with the ended handle has returned the failure yet. Until then the descriptors of the session
    /// are readable, so that an event loop calls a function, which returns the failure.
    private var isFailureNews = false
    /// Whether no engine can be used, and no poll of the handle has got this failure yet.
    private var isOutageNews = false
    private(set) var newest = EventID.zero
    private(set) var returnedThrough = EventID.zero
    /// The events that the engine has pushed (sent without a poll) and that no poll has returned yet.
    var pushed = EventCache()
    /// The progress that the host has not read yet. `progressMilliseconds`: the interval between readings that the host
    /// has requested; 0 if the host has not requested progress.
    var progress = ProgressTable()
    var progressMilliseconds: UInt32 = 0
    var progressDescriptor: EventFD?
    /// Whether the descriptor is readable.
    private var isSignalled = false
    /// The number of polls to which the engine has not replied yet. While there is such a poll, the descriptors of the
    /// session and of the application are not readable because of the session's events: the reply may contain all of
    /// them.
    private var pendingPolls = 0

    init(identifier: String, role: Role, descriptor: EventFD) {
        self.identifier = identifier
        self.role = role
        self.descriptor = descriptor
    }

    private var hasUnreported: Bool { newest > returnedThrough || isFailureNews }
    var isPolled: Bool { pendingPolls > 0 }

    mutating func updateDescriptor(_ cause: DescriptorCause = .events) {
        let isReadable =
            switch cause {
            case .events: hasUnreported && !isPolled
            case .failure: isOutageNews
            case .nothing: false
            }
        guard isReadable || isSignalled else { return }
        isSignalled = isReadable
        descriptor.set(isSignalled)
    }

    /// Notes that no engine can be used. If a poll is under way, it gets the failure, so the descriptor does not become
    /// readable.
    mutating func beginOutage() { isOutageNews = !isPolled }

    mutating func pollBegan() {
        pendingPolls += 1
        isOutageNews = false
    }

    /// If the handle ended during the poll, the poll may have got an empty reply in place of the failure.
    mutating func pollEnded() {
        pendingPolls -= 1
        if failure != nil { updateDescriptor() }
    }

    /// Ends the handle, because the engine does not know the handle any more. `isNews`: whether the host must be
    /// notified.
    mutating func end(_ failure: Failure, isNews: Bool) {
        self.failure = failure
        isFailureNews = isNews
        isAttached = false
        returnedThrough = newest
        updateDescriptor()
        // No poll of an ended handle returns readings.
        progress = ProgressTable()
        progressDescriptor?.set(isNews)
    }

    /// Ends the handle, because its session was invalidated and removed.
    mutating func remove() {
        isRemoved = true
        end(.sessionRemoved, isNews: true)
    }

    /// Returns the failure for the host, which then knows it.
    mutating func takeFailure() -> Failure? {
        guard failure != nil, isFailureNews else { return failure }
        isFailureNews = false
        updateDescriptor()
        progressDescriptor?.clear()
        return failure
    }

    /// Records the newest event of the session. An ended handle gets no event: a later event is of another session that
    /// has the same identifier.
    mutating func record(newest id: EventID) { if failure == nil { newest = max(newest, id) } }

    /// Treats all events up to this id as returned by polls. Empties the buffer of pushed events, because the engine
    /// pushes again. It begins with the first event that does not count as returned.
    mutating func begin(at id: EventID) {
        noteReturned(through: id)
        pushed.restart(at: returnedThrough)
    }

    mutating func noteReturned(through id: EventID) { returnedThrough = max(returnedThrough, id) }

    mutating func unreturn(after id: EventID) { returnedThrough = min(returnedThrough, id) }
}
