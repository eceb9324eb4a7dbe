public import BackhaulModel

/// Work that repeats: what hosts have set, and when it is due by the calendar on the wall.
extension Transaction {
    /// Makes the activity, or takes the place of the one with its identifier, whose next window stays unless its first
    /// time or its interval is another. Throws tooMany, invalidated, notFound. `origin`: of the request.
    public func setActivity(
        _ activity: Activity, origin: Origin?, in session: SessionID, now: Int64
    ) throws(Failure) {
        guard let round = try tables.sessions.round(of: session) else { throw noSession() }
        guard !round.isInvalidating else { throw invalidated(round.identifier) }
        let before = try tables.activities.times(of: activity.identifier, in: session)
        let first = activity.firstMilliseconds
        var times = ActivityTimes(first: first, next: ActivityWindow.first(of: activity, now: now).begin)
        if let before {
            let isSame = before.interval == activity.intervalMilliseconds
            if isSame, first == nil || first == before.times.first { times = before.times }
        } else {
            try makeRoomForActivity(in: session)
        }
        let stated = TaskConstraints(activity.request?.options.policy.constraints ?? .none)
        let constraints = try constraintsID(for: stated, in: session)
        try tables.activities.write(activity, origin: origin, constraints: constraints, times: times, in: session)
        guard let id = try tables.activities.times(of: activity.identifier, in: session)?.id else { return }
        try tables.options.remove(id)
        guard let request = activity.request, request.hasOptions else { return }
        try tables.options.insert(request.options, of: id)
    }

    /// Throws notFound.
    public func removeActivity(_ identifier: String, in session: SessionID) throws(Failure) {
        guard try tables.activities.remove(identifier, of: session) else {
            throw Failure(.notFound, "the session has no activity \(identifier)")
        }
    }

    /// By identifier.
    public func activities(_ session: SessionID, now: Int64) throws(Failure) -> [ActivityInfo] {
        try tables.activities.infos(of: session, now: now)
    }

    /// Those of all sessions whose window has opened, and when the next one's does, in Unix milliseconds.
    public func openActivities(now: Int64) throws(Failure) -> (open: [OpenActivity], next: Int64?) {
        (try tables.activities.open(now: now), try tables.activities.nextWindow(after: now))
    }

    public func hasActivities() throws(Failure) -> Bool { try tables.activities.hasAny() }

    /// The calendar has jumped. What counts from when it was set goes along; what was set for a time on the wall stays
    /// there, but a window that was computed while the calendar showed too much opens after one interval.
    func moveActivities(by jump: Int64, now: Int64) throws(Failure) {
        try tables.activities.moveWindows(by: jump)
        // A machine whose clock is not set yet will see those times again.
        guard jump < 0, now >= CalendarJump.neverSet else { return }
        try tables.activities.boundWindows(now: now)
    }

    private func makeRoomForActivity(in session: SessionID) throws(Failure) {
        let count = try tables.activities.count(of: session)
        guard count >= Limits.activityCount else { return }
        throw Failure(.tooMany, "the session has \(count) activities; remove those that are not needed any more")
    }
}
