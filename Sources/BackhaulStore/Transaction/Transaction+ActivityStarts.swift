public import BackhaulModel

/// The start of an activity and its next window are one transaction: it starts once, whenever an engine ends.
extension Transaction {
    /// Makes the task of its request, or tells the host. Nil when it was started, changed or removed since it was read,
    /// or its last task lives; also when its host has not acknowledged yet what it was told of an earlier window: this
    /// one is over with that. Throws what an enqueue throws.
    public func start(
        _ activity: OpenActivity, now: Int64, clock: ClockReading
    ) throws(Failure) -> ActivityStart? {
        let current = try connection.first(Self.selectOne, .number(activity.id.rawValue)) { row throws(Failure) in
            row.openActivity()
        }
        guard let current, current == activity, current.livingTask == nil else { return nil }
        // One that does not repeat has been set for this one event, whatever its like are doing.
        if !activity.hasRequest, activity.repeats, let next = activity.next(now: clock.wall), try isTold(activity) {
            try connection.run(Self.pass, .number(activity.id.rawValue), .integer(next))
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
            try connection.run(
                Self.advance, .number(activity.id.rawValue), .integer(next), .integer(clock.wall),
                enqueued?.results.first.map { .id($0.task) } ?? .null)
        } else {
            try connection.run(Self.remove, .number(activity.id.rawValue))
        }
        var change = try change(in: activity.session)
        change.needsHost = told != nil
        change.previousEvent = told?.previous ?? .zero
        change.events = told?.events ?? []
        return ActivityStart(change: change, enqueued: enqueued)
    }

    private func isTold(_ activity: OpenActivity) throws(Failure) -> Bool {
        try connection.first(Self.selectTold, .id(activity.session), .text(activity.identifier)) {
            row throws(Failure) in row.flag()
        } ?? false
    }

    private func tell(
        _ activity: OpenActivity, now: Int64
    ) throws(Failure) -> (previous: EventID, events: [Event]) {
        let previous = try change(in: activity.session).newestEvent
        try connection.run(Self.insertEvent, .id(activity.session), .text(activity.identifier), .integer(now))
        try connection.run(Self.countEvent, .id(activity.session), .integer(connection.lastInsertedRow))
        return (previous, try poll(activity.session, after: previous, maximum: 1).events)
    }

    /// What is to be enqueued for the window: it waits for what its quality of service wishes until the window ends.
    private func request(of activity: OpenActivity, now: Int64) throws(Failure) -> (Request, Origin) {
        let found = try connection.first(Self.selectRequest, .number(activity.id.rawValue)) { row throws(Failure) in
            let origin = Origin(scheme: row.text(), server: row.text(), port: row.number())
            return (origin: origin, request: try row.activityRequest())
        }
        guard let found else {
            throw Failure(.internal, "an activity has no request; please report it")
        }
        var request = found.request
        var options = try self.options(ofActivity: activity.id) ?? .none
        if activity.qualityOfService == .background, options.policy.constraints.preset == nil {
            options.policy.constraints.preset = .discretionary
        }
        options.latestStartMilliseconds = activity.window(now: now).end
        request.options = options
        return (request, found.origin)
    }

    private static let selectOne = Query("SELECT \(openColumns) FROM activities WHERE id = ?")
    private static let advance = Query(
        """
        UPDATE activities SET next_ms = ?2, last_started_ms = ?3, last_task_id = ifnull(?4, last_task_id) WHERE id = ?1
        """)
    private static let pass = Query("UPDATE activities SET next_ms = ?2 WHERE id = ?1")
    private static let selectTold = Query(
        "SELECT EXISTS (SELECT 1 FROM events WHERE session_id = ? AND kind = 5 AND activity = ?)")
    private static let remove = Query("DELETE FROM activities WHERE id = ?")
    private static let insertEvent = Query(
        """
        INSERT INTO events (session_id, task_id, kind, round, time_ms, activity)
        SELECT id, NULL, 5, round, ?3, ?2 FROM sessions WHERE id = ?1
        """)
    private static let countEvent = Query(
        "UPDATE sessions SET events_waiting = events_waiting + 1, newest_event = ?2 WHERE id = ?1")
    private static let selectRequest = Query(
        """
        SELECT scheme, server, port, url, destination, directory_device, directory_inode, if_exists, priority, mode,
            headers, user_data
        FROM activities WHERE id = ? AND url IS NOT NULL
        """)
}

extension Row {
    fileprivate mutating func activityRequest() throws(Failure) -> Request {
        var request = Request(url: text())
        let path = optionalText()
        let (device, inode) = (bits(), bits())
        request.destination = path.map { Destination(path: $0, directoryDevice: device, directoryInode: inode) }
        request.ifExists = ExistsPolicy(rawValue: number()) ?? .fail
        request.priority = number()
        request.mode = number()
        request.headers = try HeaderBlob.unpack(optionalBlob())
        request.userData = optionalBlob()
        return request
    }
}
