public import BackhaulModel

/// When and why one task has waited: what was written down for it or with others, and what follows from its own rows.
extension Transaction {
    /// Oldest first, at most `Limits.waitCount`, the newest of more; of a task that is listed or in the history. Nil
    /// when there is no such task. Not in it: what is known to the engine alone, and suspensions and challenges that
    /// ended for more than a thousand tasks at once, and starts
    /// that as many were given anew. An attempt is taken to have ended with the last that was measured
    /// of it.
    public func waits(of task: TaskID, in session: SessionID, now: Int64) throws(Failure) -> [Wait]? {
        guard let life = try life(of: task, session) else { return nil }
        var waits = Waits(begin: life.enqueued, end: life.ended, now: now)
        try addShared(life, session, to: &waits)
        let recorded = try connection.all(Self.selectSingle, .id(task)) { row throws(Failure) in row.wait() }
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
        let found = try connection.first(Self.selectTask, .id(task), .id(session)) { row throws(Failure) in row.life() }
        if let found { return found }
        return try connection.first(Self.selectRemembered, .id(task), .id(session)) { row throws(Failure) in
            row.life()
        }
    }

    /// Before its latest start a task has stated other constraints than after it.
    private func addShared(_ life: TaskLife, _ session: SessionID, to waits: inout Waits) throws(Failure) {
        var before = life.constraints
        var change: Int64?
        if let latest = life.latestStart, latest > life.enqueued {
            var stated = try constraints(life.constraints)
            if stated.isPastLatestStart {
                stated.isPastLatestStart = false
                change = latest
                before = try findConstraints(stated, in: session) ?? life.constraints
            }
        }
        try connection.each(Self.selectShared, .id(session), .id(life.lane)) { row throws(Failure) in
            let constraints: ConstraintsID? = row.optionalNumber().map { ConstraintsID(rawValue: $0) }
            let wait = row.wait()
            guard let constraints else { return waits.add(wait) }
            if constraints == before { waits.add(wait, to: change) }
            if constraints == life.constraints, before != life.constraints { waits.add(wait, from: change) }
        }
    }

    /// What its attempts were followed by. When a challenge was answered may have been `recorded`.
    private func addDelays(
        _ task: TaskID, _ life: TaskLife, _ recorded: [Wait], to waits: inout Waits
    ) throws(Failure) {
        let attempts = try attemptTimes(of: task)
        for (index, attempt) in attempts.enumerated() {
            let following = index + 1 < attempts.count ? attempts[index + 1].began : nil
            let isLast = following == nil
            switch attempt.next {
            case .retry:
                var reason = attempt.status == .diskFull ? WaitReason.diskFull : .retry
                var end = following.map { min($0, attempt.nextAttempt) } ?? attempt.nextAttempt
                // It was told to start later while it waited.
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
                // When the last was answered is known only as long as it is not.
                guard let end = following ?? (life.dueReason == .credential ? .max : life.ended) else { continue }
                let reason = WaitReason.credential
                waits.add(
                    Wait(
                        reason, reason.text ?? "", beganMilliseconds: attempt.ended,
                        endedMilliseconds: end == .max ? nil : end))
            case .end, .stopped: continue
            }
        }
        // Those that were not tried wait for a challenge, too.
        if life.dueReason == .credential, let opened = life.challengeOpened {
            let reason = WaitReason.credential
            waits.add(Wait(reason, reason.text ?? "", beganMilliseconds: opened, endedMilliseconds: nil))
        }
    }

    private static func sentence(_ reason: WaitReason, _ failure: String?) -> String {
        guard reason == .retry, let failure else { return reason.text ?? "" }
        return "it waits for its next attempt: \(failure)"
    }

    private func attemptTimes(of task: TaskID) throws(Failure) -> [AttemptTimes] {
        try connection.all(Self.selectAttempts, .id(task)) { row throws(Failure) in
            let began = row.integer()
            return AttemptTimes(
                began: began, ended: began &+ max(0, row.integer()),
                next: AttemptNext(rawValue: row.number()) ?? .stopped, nextAttempt: row.integer(),
                status: Status(rawValue: row.number()) ?? .ok, message: row.optionalText())
        }
    }

    private static let selectTask = Query(
        """
        SELECT enqueued_ms, ended_ms, constraints_id, lane_id, earliest_start_ms, request_options.latest_start_ms,
            suspended_since_ms, iif(due_boot_ms IS NULL, NULL, due_reason),
            (SELECT opened_ms FROM challenges WHERE challenges.id = challenge_id), start_delayed_ms
        FROM tasks LEFT JOIN request_options ON request_options.task_id = tasks.id
        WHERE tasks.id = ? AND session_id = ?
        """)
    private static let selectRemembered = Query(
        """
        SELECT enqueued_ms, ended_ms, constraints_id, lane_id, earliest_start_ms, latest_start_ms, NULL, NULL, NULL,
            start_delayed_ms
        FROM history WHERE task_id = ? AND session_id = ?
        """)
    private static let selectSingle = Query(
        "SELECT reason, sentence, began_ms, ended_ms FROM waits WHERE task_id = ? ORDER BY id")
    private static let selectShared = Query(
        """
        SELECT constraints_id, reason, sentence, began_ms, ended_ms FROM waits
        WHERE session_id = ?1 AND task_id IS NULL AND (lane_id IS NULL OR lane_id = ?2) ORDER BY id
        """)
    private static let selectAttempts = Query(
        """
        SELECT started_ms, max(ifnull(connect_us, 0), ifnull(secure_connection_us, 0), ifnull(request_end_us, 0),
            ifnull(response_start_us, 0), ifnull(response_end_us, 0)) / 1000, next, next_attempt_ms, status,
            error_message
        FROM attempts WHERE task_id = ? ORDER BY number
        """)
}

private struct AttemptTimes {
    var began: Int64
    var ended: Int64
    var next: AttemptNext
    var nextAttempt: Int64
    var status: Status
    var message: String?
}

/// What a task's row says of when it could not run.
private struct TaskLife {
    var enqueued: Int64
    var ended: Int64?
    var constraints: ConstraintsID
    var lane: LaneID
    var earliestStart: Int64?
    var latestStart: Int64?
    var suspendedSince: Int64?
    /// Of the delay that lasts.
    var dueReason: WaitReason?
    var challengeOpened: Int64?
    /// Since when it has waited for an earliest start that was said later; nil: since its enqueue.
    var startDelayed: Int64?
}

extension Row {
    fileprivate mutating func life() -> TaskLife {
        TaskLife(
            enqueued: integer(), ended: optionalInteger(), constraints: constraintsID(), lane: laneID(),
            earliestStart: optionalInteger(), latestStart: optionalInteger(), suspendedSince: optionalInteger(),
            dueReason: optionalNumber().flatMap(WaitReason.init), challengeOpened: optionalInteger(),
            startDelayed: optionalInteger())
    }

    fileprivate mutating func wait() -> Wait {
        Wait(
            WaitReason(rawValue: number()) ?? .turn, text(), beganMilliseconds: integer(),
            endedMilliseconds: optionalInteger())
    }
}
