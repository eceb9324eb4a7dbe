public import BackhaulModel

/// Events are handed out until they are acknowledged; then they and what they tell of are deleted.
extension Transaction {
    /// Up to `maximum` events with greater ids, in order. Ends early, with `more`, when they have `Limits.chunkSize`
    /// bytes together.
    public func poll(
        _ session: SessionID, after: EventID, maximum: Int
    ) throws(Failure) -> (events: [Event], more: Bool) {
        let maximum = min(max(0, maximum), Limits.batchCount)
        var events: [(Event, ChallengeID?)] = []
        var more = false
        var room = Limits.chunkSize
        try connection.eachWhile(
            Self.select, .id(session), .id(after), .number(maximum + 1)
        ) { row throws(Failure) in
            guard events.count < maximum, room > 0 else {
                more = true
                return false
            }
            let (event, challenge) = try row.event(keptFile: keptFile, bodyFile: directory.bodyFile(named:))
            room -= event.size
            events.append((event, challenge))
            return true
        }
        return (try events.map(withOpenChallenge), more)
    }

    private func withOpenChallenge(_ read: (Event, ChallengeID?)) throws(Failure) -> Event {
        var (event, challenge) = read
        if let challenge { event.kind = .challenge(try self.challenge(challenge)) }
        return event
    }

    /// How many unacknowledged events there are up to `id`.
    public func eventsThrough(_ session: SessionID, _ id: EventID) throws(Failure) -> UInt64 {
        try connection.first(Self.countThrough, .id(session), .id(id)) { row throws(Failure) in row.number() } ?? 0
    }

    /// Deletes the events and the ended tasks that they tell of. Ids that are not there are passed over. Throws
    /// invalidArgument for an id that was not given to an event yet.
    public func acknowledge(
        _ session: SessionID, _ acknowledgement: Acknowledgement
    ) throws(Failure) -> Change {
        var change = try change(in: session)
        try select(acknowledgement, of: session, newest: change.newestEvent)
        let count = try connection.first(Self.countSelected) { row throws(Failure) in row.integer() } ?? 0
        guard count > 0 else { return change }
        change.removedKept = try connection.all(Self.selectUnclaimed) { row throws(Failure) in row.taskID() }
        try leaveKept(change.removedKept)
        change.returnsBodies = try returnBodiesOfSelectedEvents()
        var lanes: Set<LaneID> = []
        var groups: Set<GroupID> = []
        try connection.each(Self.selectLanes) { row throws(Failure) in
            lanes.insert(row.laneID())
            if let group = row.optionalGroupID() { groups.insert(group) }
        }
        try rememberDelivered(session)
        let remembered = try keepHistory(session, selected: count)
        // Events of tasks go with the tasks, by the references' ON DELETE CASCADE.
        try connection.run(Self.deleteTasks)
        try connection.run(Self.deleteEvents)
        try connection.run(Self.uncount, .id(session), .integer(count), .integer(remembered))
        try removeEmptyLanes(among: lanes)
        try removeEmptyGroups(among: groups)
        try clearSelection()
        change.count = UInt64(clamping: count)
        change.sessionRemoved = try removeIfOver(session)
        return change
    }

    /// Fills `selected` with those of the events that are there.
    private func select(
        _ acknowledgement: Acknowledgement, of session: SessionID, newest: EventID
    ) throws(Failure) {
        let greatest =
            switch acknowledgement {
            case .ids(let ids): ids.max() ?? .zero
            case .through(let id): id
            }
        guard greatest <= newest else {
            throw Failure(
                .invalidArgument,
                "there is no event \(greatest.rawValue) in the session; its newest is \(newest.rawValue)")
        }
        switch acknowledgement {
        case .ids(let ids):
            try clearSelection()
            for id in ids { try connection.run(Self.selectOne, .id(session), .id(id)) }
        case .through(let id):
            try clearSelection()
            try connection.run(Self.selectThrough, .id(session), .id(id))
        }
    }

    private static let select = Query(
        """
        SELECT events.id, events.round, time_ms, events.kind, events.challenge_id,
            ifnull(group_name, activity), events.succeeded,
            events.failed, events.cancelled, tasks.id, url, idempotency_key, user_data, task_kind, groups.name,
            state, destination, attempts, bytes_received, \(Row.outcomeColumns)
        FROM events LEFT JOIN tasks ON tasks.id = events.task_id LEFT JOIN requests ON requests.task_id = tasks.id
            LEFT JOIN answers ON answers.task_id = tasks.id LEFT JOIN groups ON groups.id = tasks.group_id
        WHERE events.session_id = ? AND events.id > ? ORDER BY events.id LIMIT ?
        """)
    private static let countThrough = Query("SELECT count(*) FROM events WHERE session_id = ? AND id <= ?")
    private static let selectOne = Query(
        "INSERT OR IGNORE INTO selected SELECT id FROM events WHERE id = ?2 AND session_id = ?1")
    private static let selectThrough = Query(
        "INSERT INTO selected SELECT id FROM events WHERE session_id = ? AND id <= ?")
    // CROSS JOIN keeps the order of the tables: few rows are selected, and many are there.
    private static let countSelected = Query("SELECT count(*) FROM selected")
    private static let selectUnclaimed = Query(
        """
        SELECT tasks.id
        FROM selected CROSS JOIN events ON events.id = selected.id CROSS JOIN tasks ON tasks.id = task_id
        WHERE state = 4 AND task_kind = 1 AND destination IS NULL AND path IS NULL
        """)
    private static let selectLanes = Query(
        """
        SELECT DISTINCT lane_id, group_id
        FROM selected CROSS JOIN events ON events.id = selected.id CROSS JOIN tasks ON tasks.id = task_id
        """)
    private static let deleteTasks = Query(
        """
        DELETE FROM tasks WHERE id IN
            (SELECT task_id FROM selected CROSS JOIN events ON events.id = selected.id WHERE task_id IS NOT NULL)
        """)
    private static let deleteEvents = Query("DELETE FROM events WHERE id IN selected")
    private static let uncount = Query(
        "UPDATE sessions SET events_waiting = events_waiting - ?2, history_count = ?3 WHERE id = ?1")
}

extension Row {
    fileprivate mutating func event(
        keptFile: (TaskID) -> String, bodyFile: (String) -> String
    ) throws(Failure) -> (Event, ChallengeID?) {
        let id = eventID()
        let round = bits()
        let time = integer()
        let kind = integer()
        let challenge = optionalInteger().map { ChallengeID(rawValue: UInt64(clamping: $0)) }
        switch kind {
        case 1: skip(4)
        case 3: return (Event(id: id, round: round, timeMilliseconds: time, kind: .challenge(nil)), challenge)
        case 4:
            let group = FinishedGroup(name: text(), succeeded: bits(), failed: bits(), cancelled: bits())
            return (Event(id: id, round: round, timeMilliseconds: time, kind: .groupFinished(group)), nil)
        case 5: return (Event(id: id, round: round, timeMilliseconds: time, kind: .activity(text())), nil)
        default: return (Event(id: id, round: round, timeMilliseconds: time, kind: .sessionFinished), nil)
        }
        var task = EndedTask(
            id: taskID(), url: text(), idempotencyKey: optionalText(), userData: optionalBlob(),
            outcome: Outcome(state: .cancelled), kind: TaskKind(rawValue: number()) ?? .download, group: optionalText())
        let state = state()
        let destination = optionalText()
        task.outcome = try outcome(
            state: state, destination: destination, keptFile: keptFile(task.id), bodyFile: bodyFile, attempts: number(),
            bytesReceived: bits())
        return (Event(id: id, round: round, timeMilliseconds: time, kind: .taskEnded(task)), nil)
    }
}
