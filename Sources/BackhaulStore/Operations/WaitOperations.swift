public import BackhaulModel

/// Wait records. All tasks that wait for the same reason share one row.
public struct WaitOperations {
    let tables: Tables
    private var constraints: ConstraintOperations { ConstraintOperations(tables: tables) }

    /// Records the begin of a wait. `now`: Unix milliseconds. Each session keeps its newest `sharedLimit` shared
    /// records and `singleLimit` records of single tasks.
    @discardableResult
    public func begin(
        _ scope: WaitScope, _ reason: WaitReason, _ sentence: String, now: Int64
    ) throws(Failure) -> WaitID {
        let wait = Wait(reason, sentence, beganMilliseconds: now, endedMilliseconds: nil)
        let id = try tables.waits.insert(wait, of: scope)
        // Records are trimmed in batches, because each trim reads all rows that stay.
        if id.rawValue.isMultiple(of: 16) { try trim(of: scope.session) }
        return id
    }

    /// Does nothing for a record that has ended or was removed.
    public func end(_ id: WaitID, now: Int64) throws(Failure) { try tables.waits.end(id, now: now) }

    /// Returns the records without an end, of this engine or an earlier one.
    public func open() throws(Failure) -> [OpenWait] { try tables.waits.open() }

    /// Records the suspensions of selected tasks that are about to be resumed. Above `suspensionLimit` tasks nothing is
    /// recorded, because the rows would displace other records.
    func recordSuspensionsOfSelected(_ session: SessionID, count: Int, now: Int64) throws(Failure) {
        guard count <= Self.suspensionLimit else { return }
        if try tables.waits.insertSuspensionsOfSelected(now: now) { try trim(of: session) }
    }

    /// Records the waits of tasks for a challenge that is about to be closed. Above `suspensionLimit` tasks nothing is
    /// recorded.
    func recordAnswered(_ challenge: Challenge, in session: SessionID, now: Int64) throws(Failure) {
        guard challenge.waitingTasks <= Self.suspensionLimit else { return }
        if try tables.waits.insertCredentialWaits(for: challenge, now: now) { try trim(of: session) }
    }

    /// Records finished waits of single tasks. Above `suspensionLimit` tasks nothing is recorded.
    func record(_ waits: [(task: TaskID, wait: Wait)], in session: SessionID) throws(Failure) {
        guard !waits.isEmpty, waits.count <= Self.suspensionLimit else { return }
        for (task, wait) in waits { _ = try tables.waits.insert(wait, of: WaitScope(session, task: task)) }
        try trim(of: session)
    }

    private func trim(of session: SessionID) throws(Failure) {
        try tables.waits.trim(session, shared: Self.sharedLimit, single: Self.singleLimit)
    }

    // MARK: Waits of one task

    // When and why the task waited: from its own and shared records, and from its other rows.

    /// Returns the waits of a task in a listing or in the history, oldest first; of many, the newest
    /// `Limits.waitCount`. Nil when there is no such task. Waits that only the engine knows are missing. So are
    /// suspensions, challenges and rescheduled starts that ended for more than `suspensionLimit` tasks at once. The end
    /// of an attempt is taken from its last measured time.
    public func all(of task: TaskID, in session: SessionID, now: Int64) throws(Failure) -> [Wait]? {
        guard let life = try life(of: task, session) else { return nil }
        var waits = Waits(begin: life.enqueued, end: life.ended, now: now)
        try addShared(life, session, to: &waits)
        let recorded = try tables.waits.all(of: task)
        for wait in recorded { waits.add(wait) }
        let delayed = life.startDelayed ?? life.enqueued
        if let earliest = life.earliestStart, earliest > delayed {
            let reason = WaitReason.earliestStart
            let lasts = life.dueReason == reason || earliest > now
            waits.add(
                Wait(
                    reason, reason.text ?? "", beganMilliseconds: delayed,
                    endedMilliseconds: lasts ? nil : earliest))
        }
        if let since = life.suspendedSince {
            let reason = WaitReason.suspended
            waits.add(Wait(reason, reason.text ?? "", beganMilliseconds: since, endedMilliseconds: nil))
        }
        try addDelays(task, life, recorded, to: &waits)
        return waits.merged(limit: Limits.waitCount)
    }

    private func life(of task: TaskID, _ session: SessionID) throws(Failure) -> TaskLife? {
        if let found = try tables.listing.life(of: task, in: session) { return found }
        return try tables.history.life(of: task, in: session)
    }

    /// Adds the shared records. A task states other constraints before its latest start than after it.
    private func addShared(_ life: TaskLife, _ session: SessionID, to waits: inout Waits) throws(Failure) {
        var before = life.constraints
        var change: Int64?
        if let latest = life.latestStart, latest > life.enqueued {
            var stated = try constraints.value(of: life.constraints)
            if stated.isPastLatestStart {
                stated.isPastLatestStart = false
                change = latest
                before = try constraints.findID(stated, in: session) ?? life.constraints
            }
        }
        try tables.waits.shared(of: session, life.lane) { constraints, wait in
            guard let constraints else { return waits.add(wait) }
            if constraints == before { waits.add(wait, to: change) }
            if constraints == life.constraints, before != life.constraints { waits.add(wait, from: change) }
        }
    }

    /// Adds the waits that followed the task's attempts. The wait for a challenge may be in `recorded` already.
    private func addDelays(
        _ task: TaskID, _ life: TaskLife, _ recorded: [Wait], to waits: inout Waits
    ) throws(Failure) {
        let attempts = try tables.attempts.times(of: task)
        for (index, attempt) in attempts.enumerated() {
            let following = index + 1 < attempts.count ? attempts[index + 1].began : nil
            let isLast = following == nil
            switch attempt.next {
            case .retry:
                var reason = attempt.status == .diskFull ? WaitReason.diskFull : .retry
                var end = following.map { min($0, attempt.nextAttempt) } ?? attempt.nextAttempt
                // The task was rescheduled to a later start during the retry delay.
                if isLast, life.dueReason == .earliestStart, let delayed = life.startDelayed { end = min(end, delayed) }
                if isLast, let current = life.dueReason, current != .credential, current != .earliestStart {
                    reason = current
                    if reason == .connectivity { end = .max }
                }
                waits.add(
                    Wait(
                        reason, Self.sentence(reason, attempt.message), beganMilliseconds: attempt.ended,
                        endedMilliseconds: end > waits.now && isLast ? nil : end))
            case .challenge:
                let range = attempt.ended...max(attempt.ended, following ?? .max)
                let isRecorded = recorded.contains { wait in
                    wait.reason == .credential && wait.endedMilliseconds.map(range.contains) == true
                }
                guard !isRecorded else { continue }
                // For the last attempt, the time of the response to the challenge is not stored.
                guard let end = following ?? (life.dueReason == .credential ? .max : life.ended) else { continue }
                let reason = WaitReason.credential
                waits.add(
                    Wait(
                        reason, reason.text ?? "", beganMilliseconds: attempt.ended,
                        endedMilliseconds: end == .max ? nil : end))
            case .end, .stopped: continue
            }
        }
        // A task may wait for a challenge without an attempt of its own.
        if life.dueReason == .credential, let opened = life.challengeOpened {
            let reason = WaitReason.credential
            waits.add(Wait(reason, reason.text ?? "", beganMilliseconds: opened, endedMilliseconds: nil))
        }
    }

    private static func sentence(_ reason: WaitReason, _ failure: String?) -> String {
        guard reason == .retry, let failure else { return reason.text ?? "" }
        return "it waits for its next attempt: \(failure)"
    }

    static let sharedLimit: Int64 = 1_000

    private static let singleLimit: Int64 = 10_000

    private static let suspensionLimit = 1_000
}
