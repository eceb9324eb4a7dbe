public import BackhaulModel

/// Operations on challenges. A task that waits for the response to a challenge is parked, and refers to a row of
/// `challenges`. All tasks that need the same credential refer to the same row. The due time of a parked task is the
/// end of its resource time-out, the longest permitted time from the enqueue to the end of the task.
public struct ChallengeOperations {
    let tables: Tables
    private var attempts: AttemptOperations { AttemptOperations(tables: tables) }
    private var waits: WaitOperations { WaitOperations(tables: tables) }

    /// Records the attempt, and makes the task wait for the open challenge of the protection space: the origin and
    /// realm for which the demanded credential is valid. If the space has no open challenge, opens a challenge and
    /// inserts the challenge's event.
    ///
    /// - known: the challenge that was open when the caller decided to park the task. If that challenge is closed now,
    ///   the call changes nothing.
    /// - replacing: a closed challenge whose credential did not work. If this challenge has released other tasks, these
    ///   tasks wait again.
    public func park(
        _ task: TaskID, _ record: AttemptRecord, for authChallenge: AuthenticationChallenge, failures: UInt32 = 0,
        known: ChallengeID? = nil, replacing: ChallengeID? = nil, bootMilliseconds: Int64, now: Int64
    ) throws(Failure) -> Parking {
        if let known, try !tables.challenges.exists(known) { return .superseded(known) }
        try attempts.record(task, record)
        guard let place = try tables.delays.waitingPlace(of: task) else { return .notWaiting }
        let moment = DelayMoment(boot: bootMilliseconds, calendar: now)
        let parked = try park([task], at: place, for: authChallenge, failures: failures, replacing: replacing, moment)
        if replacing != nil { try tables.storedCredentials.remove(authChallenge.space, of: place.session) }
        return .parked(parked)
    }

    /// Opens a challenge before a request is sent, because a credential, a header or the URL has expired. `tasks` wait
    /// for the new challenge. The tasks that the closed challenge `replacing` had released also wait for the new
    /// challenge. Returns nil when none of `tasks` is ready.
    public func open(
        _ authChallenge: AuthenticationChallenge, for tasks: [TaskID], replacing: ChallengeID?, bootMilliseconds: Int64,
        now: Int64
    ) throws(Failure) -> ParkedTask? {
        var waiting: [TaskID] = []
        var place: SessionPlace?
        for task in tasks {
            guard let found = try tables.delays.readyPlace(of: task) else { continue }
            waiting.append(task)
            place = place ?? found
        }
        guard let place else { return nil }
        let moment = DelayMoment(boot: bootMilliseconds, calendar: now)
        let parked = try park(waiting, at: place, for: authChallenge, failures: 0, replacing: replacing, moment)
        try tables.storedCredentials.remove(authChallenge.space, of: place.session)
        return parked
    }

    private func park(
        _ tasks: [TaskID], at place: SessionPlace, for authChallenge: AuthenticationChallenge, failures: UInt32,
        replacing: ChallengeID?, _ moment: DelayMoment
    ) throws(Failure) -> ParkedTask {
        let (challenge, isNew) = try findOrInsert(authChallenge, failures: failures, at: place, now: moment.calendar)
        for task in tasks { try tables.delays.park(task, for: challenge, moment) }
        var lanes: Set<LaneID> = []
        if let replacing {
            lanes = try tables.delays.lanes(of: replacing, areReleased: true)
            try tables.delays.parkReleased(by: replacing, for: challenge, moment)
        }
        var change = try tables.sessions.change(in: place.session)
        change.needsHost = isNew
        change.tasks = tasks
        change.lanes = lanes
        return ParkedTask(challenge: challenge, isNew: isNew, change: change, nextDue: try tables.delays.nextDue())
    }

    /// Returns the open challenge of the protection space. If there is none, inserts a challenge with its event.
    private func findOrInsert(
        _ authChallenge: AuthenticationChallenge, failures: UInt32, at place: SessionPlace, now: Int64
    ) throws(Failure) -> (ChallengeID, isNew: Bool) {
        if let found = try tables.challenges.find(authChallenge.space, in: place.session) { return (found, false) }
        let challenge = try tables.challenges.insert(authChallenge, failures: failures, in: place.session, now: now)
        let event = try tables.events.insertChallenge(challenge, in: place.session, round: place.round, now: now)
        try tables.sessions.countEvent(event, in: place.session)
        return (challenge, true)
    }

    /// Makes ready tasks wait for an open challenge, and records no attempt of these tasks. Returns when the next
    /// delayed task is due, or nil when the challenge is not open.
    public func parkWithoutAttempt(
        _ tasks: [TaskID], for challenge: ChallengeID, bootMilliseconds: Int64, now: Int64
    ) throws(Failure) -> Int64? {
        guard try tables.challenges.exists(challenge) else { return nil }
        let moment = DelayMoment(boot: bootMilliseconds, calendar: now)
        for task in tasks { try tables.delays.parkReady(task, for: challenge, moment) }
        return try tables.delays.nextDue()
    }

    /// Computes new due times for all parked tasks. The engine calls this function after a boot. Due times are times of
    /// the boot clock, so a boot makes the old due times invalid.
    public func rescheduleParked(bootMilliseconds: Int64, now: Int64) throws(Failure) {
        try tables.delays.rescheduleParked(DelayMoment(boot: bootMilliseconds, calendar: now))
    }

    /// Sets new due times for the session's tasks that are parked, were set aside or wait for other tasks, after the
    /// session's resource time-out was changed.
    public func rescheduleParked(of session: SessionID, bootMilliseconds: Int64, now: Int64) throws(Failure) {
        try tables.delays.rescheduleParked(of: session, DelayMoment(boot: bootMilliseconds, calendar: now))
    }

    // MARK: Reading

    /// Returns the session's open challenges, sorted by id.
    public func all(of session: SessionID) throws(Failure) -> [Challenge] {
        try tables.challenges.all(of: session).sorted { $0.id < $1.id }
    }

    /// Returns the challenge, or nil when it is not open.
    public func find(_ id: ChallengeID) throws(Failure) -> Challenge? { try tables.challenges.find(id) }

    /// Returns the open challenges of all sessions.
    public func all() throws(Failure) -> [(session: SessionID, challenge: Challenge)] {
        try tables.challenges.all()
    }

    /// Returns the open challenge. Throws notFound when the session does not have it.
    public func openChallenge(_ id: ChallengeID, of session: SessionID) throws(Failure) -> Challenge {
        guard let found = try tables.challenges.find(id, in: session) else {
            throw Failure(
                .notFound,
                "the session has no open challenge \(id.rawValue): a client has responded, or no task waits for it")
        }
        return found
    }

    // MARK: Responses to challenges

    /// Closes the challenge, and makes its tasks ready. `now` is the end of their wait records, which describe the
    /// times in which tasks wait. If `now` is nil, no wait records are written.
    public func releaseTasks(
        of challenge: Challenge, in session: SessionID, now: Int64? = nil
    ) throws(Failure) -> Change {
        let lanes = try tables.delays.lanes(of: challenge.id, areReleased: false)
        if let now { try waits.recordCredentialWaits(challenge, in: session, now: now) }
        try tables.delays.release(challenge.id)
        try close(challenge.id, of: session)
        var change = try tables.sessions.change(in: session)
        change.lanes = lanes
        return change
    }

    /// Removes those of the challenges for which no task waits, and their events. Returns the removed challenges. The
    /// caller passes the challenges for which changed tasks waited. A check of all challenges would be slow, because a
    /// session may have as many challenges as tasks.
    func closeUnused(
        among challenges: some Sequence<ChallengeID>, of session: SessionID
    ) throws(Failure) -> [ChallengeID] {
        var closed: [ChallengeID] = []
        for challenge in challenges where try tables.challenges.isUnused(challenge) {
            try close(challenge, of: session)
            closed.append(challenge)
        }
        return closed
    }

    func close(_ challenge: ChallengeID, of session: SessionID) throws(Failure) {
        try tables.challenges.remove(challenge)
        let events = try tables.events.remove(challenge)
        if events > 0 { try tables.sessions.subtract(events: events, in: session) }
    }
}
