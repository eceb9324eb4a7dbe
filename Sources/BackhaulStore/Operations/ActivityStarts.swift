public import BackhaulModel

/// The start of an activity and its next window are one transaction: it starts once, whenever an engine ends.
extension Transaction {
    /// Makes the task of its request, or tells the host. Nil when it was started, changed or removed since it was read,
    /// or its last task lives; also when its host has not acknowledged yet what it was told of an earlier window: this
    /// one is over with that. Throws what an enqueue throws.
    public func start(
        _ activity: OpenActivity, now: Int64, clock: ClockReading
    ) throws(Failure) -> ActivityStart? {
        let current = try tables.activities.find(activity.id)
        guard let current, current == activity, current.livingTask == nil else { return nil }
        // One that does not repeat has been set for this one event, whatever its like are doing.
        if !activity.hasRequest, activity.repeats, let next = activity.next(now: clock.wall),
            try tables.events.hasActivity(activity.identifier, of: activity.session) {
            try tables.activities.skip(activity.id, to: next)
            return nil
        }
        var enqueued: EnqueuedTasks?
        var told: (previous: EventID, events: [Event])?
        if activity.hasRequest {
            let (request, origin) = try request(of: activity, now: clock.wall)
            enqueued = try enqueue(session: activity.session, [(request, origin)], now: now, clock: clock)
        } else {
            told = try tell(activity, now: clock.wall)
        }
        if let next = activity.next(now: clock.wall) {
            try tables.activities.advance(
                activity.id, to: next, started: clock.wall, task: enqueued?.results.first?.task)
        } else {
            try tables.activities.remove(activity.id)
        }
        var change = try change(in: activity.session)
        change.needsHost = told != nil
        change.previousEvent = told?.previous ?? .zero
        change.events = told?.events ?? []
        return ActivityStart(change: change, enqueued: enqueued)
    }

    private func tell(
        _ activity: OpenActivity, now: Int64
    ) throws(Failure) -> (previous: EventID, events: [Event]) {
        let session = activity.session
        let previous = try change(in: session).newestEvent
        let round = try tables.sessions.liveTasks(of: session)?.round ?? 0
        let event = try tables.events.insertActivity(activity.identifier, in: session, round: round, now: now)
        try tables.sessions.countEvent(event, in: session)
        return (previous, try poll(session, after: previous, maximum: 1).events)
    }

    /// What is to be enqueued for the window: it waits for what its quality of service wishes until the window ends.
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

    /// Nil when its request has none.
    private func options(
        of activity: ActivityID, stating constraints: ConstraintsID
    ) throws(Failure) -> RequestOptions? {
        guard let stored = try tables.options.find(activity) else { return nil }
        var options = stored.options
        if constraints != .session { options.policy.constraints = try self.constraints(constraints).stated }
        if let bytes = stored.bodyBytes { options.body = .bytes(bytes) }
        return options
    }
}
