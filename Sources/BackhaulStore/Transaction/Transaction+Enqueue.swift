public import BackhaulModel

extension Transaction {
    /// Makes one task for each request, or none: an atomic chunk. A request whose key has a task already finds that
    /// one, also when it was acknowledged as succeeded in a round whose end is not. The first enqueue after a round has
    /// ended begins the next.
    ///
    /// `now`: by the calendar of the rows' ages; `clock`: of the wall and the boot, for earliest and latest starts.
    /// `isLaunched`: by a launched host, whose session asks for such tasks to be discretionary. `aliases`: other paths
    /// of the requests' destinations, by position. `running`: which of the waiting rows run at this moment.
    ///
    /// Throws, with the position in the chunk as `index`: keyConflict, naming the field that differs;
    /// destinationInUse, naming the other task; destinationExists. Else notFound, tooMany, invalidated or what SQLite
    /// reports.
    public func enqueue(
        session: SessionID, _ requests: [(Request, Origin)], aliases: [Int: [String]] = [:], now: Int64,
        clock: ClockReading? = nil, isLaunched: Bool = false, running: Set<TaskID> = []
    ) throws(Failure) -> EnqueuedTasks {
        let round = try roundForEnqueue(session)
        var terms = EnqueueTerms(
            session: session, round: round, now: now, clock: clock ?? ClockReading(wall: now, boot: 0, bootID: ""),
            isLaunched: isLaunched)
        var results: [Enqueued] = []
        results.reserveCapacity(requests.count)
        var lanes: [Origin: LaneID] = [:]
        var last: (origin: Origin, lane: LaneID)?
        var laneOfWaiting: Set<LaneID> = []
        var groups = EnqueuedGroups()
        var added: Int64 = 0
        let hasDelivered = try hasDelivered(session)
        for (request, origin) in requests {
            if hasDelivered, let key = request.idempotencyKey, let task = try delivered(session, key) {
                results.append(Enqueued(task: task, disposition: .existing, state: .succeeded))
                continue
            }
            // Neighbours in a chunk mostly have the same origin.
            let lane: LaneID
            if let last, last.origin == origin {
                lane = last.lane
            } else {
                lane = if let known = lanes[origin] { known } else { try findOrMakeLane(session, origin) }
                lanes[origin] = lane
                last = (origin, lane)
            }
            let group = try groups.find(request) { (name) throws(Failure) in try findOrMakeGroup(name, of: session) }
            if let task = try insert(request, lane, group, &terms) {
                try refuseOccupied(request, index: UInt64(results.count))
                for alias in aliases[results.count] ?? [] { try refuseTaken(alias, index: UInt64(results.count)) }
                added += 1
                if let group { groups.added[group, default: 0] += 1 }
                if !request.startsSuspended { laneOfWaiting.insert(lane) }
                results.append(Enqueued(task: task, disposition: .new))
            } else {
                var found = try existing(request, session, index: UInt64(results.count))
                if found.state == .waiting, running.contains(found.task) { found.state = .running }
                results.append(found)
            }
        }
        if added > 0 { try connection.run(Self.countTasks, .id(session), .integer(added), .bits(round)) }
        for (group, added) in groups.added { try count(added, into: group) }
        // Made for requests that found their task.
        try removeEmptyGroups(among: groups.found.values.lazy.filter { groups.added[$0] == nil })
        return EnqueuedTasks(
            results: results, lanes: laneOfWaiting, nextDue: terms.hasDelayed ? try nextDue() : nil,
            nextLatestStart: terms.hasLatestStart ? try nextLatestStart() : nil)
    }

    private func roundForEnqueue(_ session: SessionID) throws(Failure) -> UInt64 {
        let found = try connection.first(Self.selectRound, .id(session)) { row throws(Failure) in
            (identifier: row.text(), round: row.bits(), isOpen: row.flag(), isInvalidating: row.flag())
        }
        guard let found else { throw noSession() }
        guard !found.isInvalidating else { throw invalidated(found.identifier) }
        return found.isOpen ? found.round : found.round &+ 1
    }

    /// Nil when another task has the key or the destination.
    private func insert(
        _ request: Request, _ lane: LaneID, _ group: GroupID?, _ terms: inout EnqueueTerms
    ) throws(Failure) -> TaskID? {
        let state = request.startsSuspended ? TaskState.suspended : .waiting
        let constraints = try constraints(of: request, &terms)
        try connection.run(
            Self.insertTask, .id(terms.session), .id(lane), .bits(terms.round), .number(state.rawValue),
            .number(request.priority), .integer(terms.now), .optional(request.idempotencyKey),
            .optional(request.destination?.path), .number(request.kind.rawValue),
            request.startsSuspended ? .integer(terms.now) : .null, group.map { .id($0) } ?? .null, .id(constraints))
        guard connection.changes == 1 else { return nil }
        let id = connection.lastInsertedRow
        if request.hasOptions { try writeTimes(of: request, to: id, &terms) }
        try connection.run(
            Self.insertRequest, .integer(id), .text(request.url), .bits(request.destination?.directoryDevice),
            .bits(request.destination?.directoryInode), .number(request.ifExists.rawValue), .number(request.priority),
            .flag(request.startsSuspended), .number(request.mode), .optional(HeaderBlob.pack(request.headers)),
            .optional(request.userData), .flag(request.hasOptions))
        if request.hasOptions { try insertOptions(request.options, of: id) }
        return TaskID(rawValue: UInt64(clamping: id))
    }

    /// What lies at the destination may be the file of the task that has the request's key; a new task has no such
    /// excuse.
    private func refuseOccupied(_ request: Request, index: UInt64) throws(Failure) {
        guard request.ifExists == .fail, let destination = request.destination, destination.isOccupied else { return }
        throw Failure(
            .destinationExists,
            "a file with the name \(destination.path) is already there; remove it, or ask for it to be replaced",
            index: index)
    }

    /// Two live tasks with one file would destroy each other's.
    private func refuseTaken(_ path: String, index: UInt64) throws(Failure) {
        let found = try connection.first(Self.selectByDestination, .text(path)) { row throws(Failure) in row.taskID() }
        guard let found else { return }
        throw Failure(
            .destinationInUse,
            "task \(found.rawValue) has the same destination \(path); choose another or cancel that task",
            index: index)
    }

    /// The task that has the request's key, when it was made by the same request.
    private func existing(_ request: Request, _ session: SessionID, index: UInt64) throws(Failure) -> Enqueued {
        if let key = request.idempotencyKey {
            let found = try connection.first(Self.selectByKey, .id(session), .text(key)) { row throws(Failure) in
                let found = Enqueued(
                    task: row.taskID(), disposition: .existing, state: row.state(), end: row.eventID())
                return (found, field: try row.fieldThatDiffers(from: request))
            }
            if let (found, field) = found {
                let options = try self.options(of: found.task) ?? .none
                guard let field = field ?? options.fieldThatDiffers(from: request.options) else { return found }
                throw Failure(
                    .keyConflict,
                    "the idempotency key was used for task \(found.task.rawValue) with another \(field); "
                        + "give each request a key of its own",
                    index: index)
            }
        }
        if let path = request.destination?.path { try refuseTaken(path, index: index) }
        throw Failure(.internal, "the store refused a task for no known reason; please report it", index: index)
    }

    private static let selectRound = Query(
        "SELECT identifier, round, round_open, invalidating FROM sessions WHERE id = ?")
    private static let insertTask = Query(
        """
        INSERT INTO tasks (session_id, lane_id, round, state, priority, enqueued_ms, idempotency_key, destination,
            task_kind, suspended_since_ms, group_id, constraints_id, part)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, random()) ON CONFLICT DO NOTHING
        """)
    private static let insertRequest = Query(
        """
        INSERT INTO requests (task_id, url, directory_device, directory_inode, if_exists, priority, starts_suspended,
            mode, headers, user_data, has_options)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let selectByKey = Query(
        """
        SELECT tasks.id, state, ifnull(events.id, 0), url, destination, if_exists, requests.priority,
            starts_suspended, mode, headers, user_data
        FROM tasks JOIN requests ON requests.task_id = tasks.id LEFT JOIN events ON events.task_id = tasks.id
        WHERE tasks.session_id = ? AND idempotency_key = ?
        """)
    private static let selectByDestination = Query(
        "SELECT id FROM tasks WHERE destination = ? AND ended_ms IS NULL AND substr(destination, -1) <> '/'")
    private static let countTasks = Query(
        "UPDATE sessions SET live_tasks = live_tasks + ?2, round = ?3, round_open = 1 WHERE id = ?1")
}

/// The groups of one chunk. By their bytes, as the store compares them: texts of Swift are equal when they look the
/// same.
private struct EnqueuedGroups {
    var found: [[UInt8]: GroupID] = [:]
    var added: [GroupID: Int64] = [:]

    mutating func find(
        _ request: Request, make: (String) throws(Failure) -> GroupID
    ) throws(Failure) -> GroupID? {
        guard request.hasOptions, let name = request.options.group else { return nil }
        let key = Array(name.utf8)
        if let group = found[key] { return group }
        let group = try make(name)
        found[key] = group
        return group
    }
}

extension Row {
    /// The name that the field has in include/backhaul.h, or nil. The destination directory's device is left out: it
    /// may get another number at each boot.
    fileprivate mutating func fieldThatDiffers(from request: Request) throws(Failure) -> String? {
        if !text().utf8.elementsEqual(request.url.utf8) { return "url" }
        let path = request.destination?.path
        if !(optionalText() ?? "").utf8.elementsEqual((path ?? "").utf8) { return "destination" }
        if integer() != Int64(request.ifExists.rawValue) { return "if_exists" }
        if integer() != Int64(request.priority) { return "priority" }
        if flag() != request.startsSuspended { return "flags" }
        if integer() != Int64(request.mode) { return "mode" }
        if try HeaderBlob.unpack(optionalBlob()) != request.headers { return "headers" }
        if optionalBlob() != request.userData { return "user_data" }
        return nil
    }
}
