public import BackhaulModel

/// Operations on wait records. Tasks that wait for the same reason may share one row.
public struct WaitOperations {
    let tables: Tables
    private var constraints: ConstraintOperations { ConstraintOperations(tables: tables) }

    /// Records that a wait begins at `now`, in Unix milliseconds. Each session keeps its newest `sharedLimit` shared
    /// records, and its newest `singleLimit` records of single tasks.
    @discardableResult
    public func begin(
        _ scope: WaitScope, _ reason: WaitReason, _ sentence: String, now: Int64
    ) throws(Failure) -> WaitID {
        let wait = WaitRecord(reason, sentence, beganMilliseconds: now, endedMilliseconds: nil)
        let id = try tables.waits.insert(wait, of: scope)
        if Self.causesTrim(id) { try trim(of: scope.session) }
        return id
    }

    /// Each trim reads all rows that stay, so one record of 16 causes a trim. A hash chooses it: the ids of sessions
    /// that record in turn have a fixed step.
    private static func causesTrim(_ id: WaitID) -> Bool { (id.rawValue &* 0x9E37_79B9_7F4A_7C15) >> 60 == 0 }

    /// Records that the wait ends at `now`. Does nothing if the record has an end or was removed.
    public func end(_ id: WaitID, now: Int64) throws(Failure) { try tables.waits.end(id, now: now) }

    /// Returns the records that have no end. An earlier engine may have written them.
    public func open() throws(Failure) -> [OpenWait] { try tables.waits.open() }

    /// Records the suspensions of the selected tasks. The caller resumes these tasks afterwards. For more than
    /// `suspensionLimit` tasks, nothing is recorded, because the rows would displace other records.
    func recordSuspensionsOfSelected(_ session: SessionID, count: Int, now: Int64) throws(Failure) {
        guard count <= Self.suspensionLimit else { return }
        if try tables.waits.insertSuspensionsOfSelected(now: now) { try trim(of: session) }
    }

    /// Records the waits that the selected tasks share with all tasks of their constraints. The caller gives the
    /// selected tasks other constraints afterwards. For more than `suspensionLimit` tasks, nothing is recorded.
    func recordSharedOfSelected(_ session: SessionID, count: Int, now: Int64) throws(Failure) {
        guard count <= Self.suspensionLimit else { return }
        if try tables.waits.insertSharedOfSelected(now: now) { try trim(of: session) }
    }

    /// Records how long the tasks have waited for the challenge. The caller closes the challenge afterwards. For more
    /// than `suspensionLimit` tasks, nothing is recorded.
    func recordCredentialWaits(_ challenge: Challenge, in session: SessionID, now: Int64) throws(Failure) {
        guard challenge.waitingTasks <= Self.suspensionLimit else { return }
        if try tables.waits.insertCredentialWaits(for: challenge, now: now) { try trim(of: session) }
    }

    /// Records finished waits of single tasks. For more than `suspensionLimit` tasks, nothing is recorded.
    func record(_ waits: [(task: TaskID, wait: WaitRecord)], in session: SessionID) throws(Failure) {
        guard !waits.isEmpty, waits.count <= Self.suspensionLimit else { return }
        var mustTrim = false
        for (task, wait) in waits {
            if Self.causesTrim(try tables.waits.insert(wait, of: WaitScope(session, task: task))) { mustTrim = true }
        }
        if mustTrim { try trim(of: session) }
    }

    private func trim(of session: SessionID) throws(Failure) {
        try tables.waits.trim(session, shared: Self.sharedLimit, single: Self.singleLimit)
    }

    // MARK: Waits of one task

    // These functions find when and why a task waited. They read the task's own wait records, the shared wait records,
    // and the other rows of the task.

    /// Returns the newest `Limits.waitCount` waits (times in which the task waited) of a task, oldest first. The task
    /// may be in the session's history (its list of ended tasks). Returns nil when neither the session nor its history
    /// has the task. The result lacks waits that are known only to the engine and not to the store. A call may end the
    /// suspensions of many tasks, their waits for a challenge, (by a reschedule) their waits for an earliest start, or
    /// (by other constraints) all their waits for constraints.
    /// If it does so for more than `suspensionLimit` tasks, the result lacks these waits as well. The same holds if
    /// more tasks have waited for the end of one task. The last time that was measured for an attempt counts as the
    /// attempt's end.
    public func all(of task: TaskID, in session: SessionID, now: Int64) throws(Failure) -> [WaitRecord]? {
        var shared = SharedWaits()
        return try all(of: task, in: session, now: now, &shared)
    }

    /// Returns the waits of several tasks, sorted by task, as the function above does for each of them. Tasks that are
    /// missing are left out. The result ends early, after a task, when its waits have `Limits.chunkSize` bytes
    /// together. Then `more` is true.
    public func all(
        of tasks: [TaskID], in session: SessionID, now: Int64
    ) throws(Failure) -> (waits: [WaitRecord], more: Bool) {
        var page = RecordPage<WaitRecord>()
        var shared = SharedWaits()
        for task in Set(tasks).sorted() {
            let waits = try all(of: task, in: session, now: now, &shared) ?? []
            guard page.add(waits, size: { 40 + $0.sentence.utf8.count }) else { break }
        }
        return (page.records, page.more)
    }

    /// The shared records of each lane. They are read only one time for all tasks of the lane.
    private typealias SharedWaits = [LaneID: [(constraints: ConstraintsID?, wait: WaitRecord)]]

    private func all(
        of task: TaskID, in session: SessionID, now: Int64, _ shared: inout SharedWaits
    ) throws(Failure) -> [WaitRecord]? {
        guard let timeline = try timeline(of: task, session) else { return nil }
        var waits = WaitMerger(begin: timeline.enqueued, end: timeline.ended, now: now)
        try addShared(timeline, session, &shared, to: &waits)
        let recorded = try tables.waits.all(of: task)
        for wait in recorded { waits.add(wait) }
        let delayed = timeline.startDelayed ?? timeline.enqueued
        if let earliest = timeline.earliestStart, earliest > delayed {
            let reason = WaitReason.earliestStart
            let lasts = timeline.dueReason == reason || earliest > now
            waits.add(
                WaitRecord(
                    reason, reason.text ?? "", beganMilliseconds: delayed,
                    endedMilliseconds: lasts ? nil : earliest))
        }
        if let since = timeline.suspendedSince {
            let reason = WaitReason.suspended
            waits.add(WaitRecord(reason, reason.text ?? "", beganMilliseconds: since, endedMilliseconds: nil))
        }
        try addDelays(task, timeline, recorded, to: &waits)
        return waits.merged(limit: Limits.waitCount).map { wait in
            var wait = wait
            wait.task = task
            return wait
        }
    }

    private func timeline(of task: TaskID, _ session: SessionID) throws(Failure) -> TaskTimeline? {
        if let found = try tables.listing.timeline(of: task, in: session) { return found }
        return try tables.history.timeline(of: task, in: session)
    }

    /// Adds the shared records. At its latest start, a task changes from one row of constraints to another row. After
    /// this time, presets such as `discretionary` do not delay the task any more.
    private func addShared(
        _ timeline: TaskTimeline, _ session: SessionID, _ shared: inout SharedWaits, to waits: inout WaitMerger
    ) throws(Failure) {
        var before = timeline.constraints
        var change: Int64?
        if let latest = timeline.latestStart, latest > timeline.enqueued {
            var stated = try constraints.value(of: timeline.constraints)
            if stated.isPastLatestStart {
                stated.isPastLatestStart = false
                change = latest
                before = try constraints.findID(stated, in: session) ?? timeline.constraints
            }
        }
        if shared[timeline.lane] == nil {
            var read: [(constraints: ConstraintsID?, wait: WaitRecord)] = []
            try tables.waits.shared(of: session, timeline.lane) { read.append(($0, $1)) }
            shared[timeline.lane] = read
        }
        for (constraints, wait) in shared[timeline.lane] ?? [] {
            guard let constraints else {
                waits.add(wait)
                continue
            }
            if constraints == before { waits.add(wait, to: change) }
            if constraints == timeline.constraints, before != timeline.constraints { waits.add(wait, from: change) }
        }
    }

    /// Adds the waits that followed the task's attempts. A wait for a challenge is skipped if `recorded` has it.
    private func addDelays(
        _ task: TaskID, _ timeline: TaskTimeline, _ recorded: [WaitRecord], to waits: inout WaitMerger
    ) throws(Failure) {
        let attempts = try tables.attempts.times(of: task)
        for (index, attempt) in attempts.enumerated() {
            let following = index + 1 < attempts.count ? attempts[index + 1].began : nil
            let isLast = following == nil
            switch attempt.next {
            case .retry:
                var reason = WaitReason(ofDelayAfter: attempt.status)
                // If the pause of the origin has a record, the delay after the demand for the pause is a part of it.
                if reason == .retry, waits.hasWait(.origin, at: attempt.ended) { reason = .origin }
                var end = following.map { min($0, attempt.nextAttempt) } ?? attempt.nextAttempt
                // If a rescheduling during the retry delay gave the task a later start, it also ended the retry delay.
                if isLast, timeline.dueReason == .earliestStart, let delayed = timeline.startDelayed {
                    end = min(end, delayed)
                }
                if isLast, let current = timeline.dueReason, current != .credential, current != .earliestStart {
                    reason = current
                    if reason == .connectivity { end = .max }
                }
                waits.add(
                    WaitRecord(
                        reason, Self.sentence(reason, attempt.message), beganMilliseconds: attempt.ended,
                        endedMilliseconds: end > waits.now && isLast ? nil : end))
            case .challenge:
                let range = attempt.ended...max(attempt.ended, following ?? .max)
                let isRecorded = recorded.contains { wait in
                    wait.reason == .credential && wait.endedMilliseconds.map(range.contains) == true
                }
                guard !isRecorded else { continue }
                // For the last attempt, the time of the response to the challenge is not stored. If the task has
                // not ended and does not wait for a challenge now, this wait is left out.
                guard let end = following ?? (timeline.dueReason == .credential ? .max : timeline.ended)
                else { continue }
                let reason = WaitReason.credential
                waits.add(
                    WaitRecord(
                        reason, reason.text ?? "", beganMilliseconds: attempt.ended,
                        endedMilliseconds: end == .max ? nil : end))
            case .end, .stopped, .running: continue
            }
        }
        if timeline.dueReason == .dependency {
            let reason = WaitReason.dependency
            waits.add(
                WaitRecord(reason, reason.text ?? "", beganMilliseconds: timeline.enqueued, endedMilliseconds: nil))
        }
        // A task may wait for a challenge although it has made no attempt.
        if timeline.dueReason == .credential, let opened = timeline.challengeOpened {
            let reason = WaitReason.credential
            waits.add(WaitRecord(reason, reason.text ?? "", beganMilliseconds: opened, endedMilliseconds: nil))
        }
    }

    private static func sentence(_ reason: WaitReason, _ failure: String?) -> String {
        guard let failure, reason == .retry || reason == .storage else { return reason.text ?? "" }
        return reason == .storage ? failure : "it waits for its next attempt: \(failure)"
    }

    static let sharedLimit: Int64 = 1_000

    private static let singleLimit: Int64 = 10_000

    private static let suspensionLimit = 1_000
}
