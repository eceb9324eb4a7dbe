public import BackhaulModel

/// Operations on activities: their settings, their windows of time on the wall clock, and their starts. A start and the
/// next window are written in one transaction, so an activity does not start twice in one window, even after a crash.
public struct ActivityOperations {
    let tables: Tables
    private var constraints: ConstraintOperations { ConstraintOperations(tables: tables) }
    private var events: EventOperations { EventOperations(tables: tables) }
    private var tasks: TaskOperations { TaskOperations(tables: tables) }

    /// Adds the activity, or replaces the one with the same identifier. `firstMilliseconds` of an activity is the time
    /// at which its first window opens. The new activity keeps the next window of the replaced activity under two
    /// conditions: the interval is the same, and the new `firstMilliseconds` is nil or the same as before. `origin` is
    /// the origin (scheme, host name and port) of the activity's request. Throws tooMany, invalidated or notFound.
    public func set(
        _ activity: Activity, origin: Origin?, in session: SessionID, now: Int64
    ) throws(Failure) {
        guard let round = try tables.sessions.round(of: session) else { throw Failure.sessionNotFound }
        guard !round.isInvalidating else { throw Failure.invalidated(round.identifier) }
        let before = try tables.activities.times(of: activity.identifier, in: session)
        let first = activity.firstMilliseconds
        var times = ActivityTimes(first: first, next: ActivityWindow.first(of: activity, now: now).begin)
        if let before {
            let isSame = before.interval == activity.intervalMilliseconds
            if isSame, first == nil || first == before.times.first { times = before.times }
        } else {
            try enforceLimit(in: session)
        }
        let stated = TaskConstraints(activity.request?.options.policy.constraints ?? .none)
        let constraints = try self.constraints.id(for: stated, in: session)
        try tables.activities.write(activity, origin: origin, constraints: constraints, times: times, in: session)
        guard let id = try tables.activities.times(of: activity.identifier, in: session)?.id else { return }
        try tables.options.remove(id)
        guard let request = activity.request, request.hasOptions else { return }
        try tables.options.insert(request.options, of: id)
    }

    /// Removes the activity. Throws notFound when the session does not have it.
    public func remove(_ identifier: String, in session: SessionID) throws(Failure) {
        guard try tables.activities.remove(identifier, of: session) else {
            throw Failure(.notFound, "the session has no activity \(identifier)")
        }
    }

    /// Returns the session's activities, sorted by identifier.
    public func infos(of session: SessionID, now: Int64) throws(Failure) -> [ActivityInfo] {
        try tables.activities.infos(of: session, now: now)
    }

    /// Returns all activities whose window is open, from all sessions. Also returns when the next window opens, in Unix
    /// milliseconds.
    public func open(now: Int64) throws(Failure) -> (open: [OpenActivity], next: Int64?) {
        (try tables.activities.open(now: now), try tables.activities.nextWindow(after: now))
    }

    public func hasAny() throws(Failure) -> Bool { try tables.activities.hasAny() }

    private func enforceLimit(in session: SessionID) throws(Failure) {
        let count = try tables.activities.count(of: session)
        guard count >= Limits.activityCount else { return }
        throw Failure(.tooMany, "the session has \(count) activities; remove those that are not needed any more")
    }

    /// Starts the activity: stores its request as a task, or inserts an event for the host. Returns nil if the activity
    /// was started, changed or removed since the caller read it, or if its last task has not ended. Also returns nil,
    /// and skips this window, if the host has not acknowledged the event of an earlier window. Throws the same failures
    /// as `TaskOperations.enqueue`.
    public func start(
        _ activity: OpenActivity, now: Int64, clock: ClockReading
    ) throws(Failure) -> ActivityStart? {
        let current = try tables.activities.find(activity.id)
        guard let current, current == activity, current.livingTask == nil else { return nil }
        // An activity that does not repeat has only one window, so its event is inserted even if an earlier event is
        // not acknowledged.
        if !activity.hasRequest, activity.repeats, let next = activity.next(now: clock.wall),
            try tables.events.hasActivity(activity.identifier, of: activity.session)
        {
            try tables.activities.skip(activity.id, to: next)
            return nil
        }
        var enqueued: EnqueuedTasks?
        var notified: (previous: EventID, events: [Event])?
        if activity.hasRequest {
            let (request, origin) = try request(of: activity, now: clock.wall)
            enqueued = try tasks.enqueue(
                [(request, origin)], in: activity.session, now: now, clock: clock)
        } else {
            notified = try notify(activity, now: clock.wall)
        }
        if let next = activity.next(now: clock.wall) {
            try tables.activities.advance(
                activity.id, to: next, started: clock.wall, task: enqueued?.results.first?.task)
        } else {
            try tables.activities.remove(activity.id)
        }
        var change = try tables.sessions.change(in: activity.session)
        change.needsHost = notified != nil
        change.withdrawsEnd = enqueued?.withdrawsEnd ?? false
        change.previousEvent = notified?.previous ?? .zero
        change.events = notified?.events ?? []
        return ActivityStart(change: change, enqueued: enqueued)
    }

    private func notify(
        _ activity: OpenActivity, now: Int64
    ) throws(Failure) -> (previous: EventID, events: [Event]) {
        let session = activity.session
        let previous = try tables.sessions.change(in: session).newestEvent
        let round = try tables.sessions.liveTasks(of: session)?.round ?? 0
        let event = try tables.events.insertActivity(activity.identifier, in: session, round: round, now: now)
        try tables.sessions.countEvent(event, in: session)
        return (previous, try events.poll(session, after: previous, maximum: 1).events)
    }

    /// Returns the request to enqueue for the open window. If the quality of service is `background`, and the request
    /// has no preset, the request gets the discretionary preset. Then the task waits for the conditions of this preset
    /// (such as external power), at most until the window ends.
    private func request(of activity: OpenActivity, now: Int64) throws(Failure) -> (Request, Origin) {
        guard let stored = try tables.activities.request(of: activity.id) else {
            throw Failure(.internal, "an activity has no request; please report it")
        }
        var request = stored.request
        var options = try options(of: activity.id, stating: stored.constraints) ?? .none
        if activity.qualityOfService == .background, options.policy.constraints.preset == nil {
            options.policy.constraints.preset = .discretionary
        }
        options.latestStartMilliseconds = activity.window(now: now).end
        request.options = options
        return (request, stored.origin)
    }

    /// Returns the options (rarely used fields) of the activity's request, or nil when it has none.
    private func options(
        of activity: ActivityID, stating constraints: ConstraintsID
    ) throws(Failure) -> RequestOptions? {
        guard let stored = try tables.options.find(activity) else { return nil }
        var options = stored.options
        if constraints != .session { options.policy.constraints = try self.constraints.value(of: constraints).stated }
        if let bytes = stored.bodyBytes { options.body = .bytes(bytes) }
        return options
    }
}
