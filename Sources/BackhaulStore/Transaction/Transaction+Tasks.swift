public import BackhaulModel

/// Live tasks as the engine runs them.
extension Transaction {
    /// Those of the lane that may run now, in the order of their turn: higher priority first, then older. Tasks in
    /// `known` are passed over and do not count towards `limit`; those with constraints that are `held` are left out.
    public func waitingTasks(
        lane: LaneID, limit: Int, afterKnown known: Set<TaskID> = [], notOf held: Set<ConstraintsID> = []
    ) throws(Failure) -> [StoredTask] {
        guard limit > 0 else { return [] }
        // From the index alone first: those that are passed over cost little.
        let ids = try turns(of: lane, limit: limit, afterKnown: known, notOf: held)
        var tasks: [StoredTask] = []
        tasks.reserveCapacity(ids.count)
        for id in ids {
            if let task = try storedTask(id) { tasks.append(task) }
        }
        return tasks
    }

    /// Tasks whose file was about to get its final name when an engine stopped.
    public func tasksWithIntent() throws(Failure) -> [StoredTask] {
        try connection.all(Self.selectWithIntent) { row throws(Failure) in try storedTask(&row) }
    }

    /// Nil when there is none.
    public func task(_ id: TaskID) throws(Failure) -> TaskRecord? {
        let found = try connection.first(Self.selectRecord, .id(id)) { row throws(Failure) in
            var record = TaskRecord(task: try storedTask(&row), state: row.state(), outcome: nil)
            if record.state.hasEnded {
                record.outcome = try row.outcome(
                    state: record.state, destination: record.task.request.destination?.path, keptFile: keptFile(id),
                    bodyFile: directory.bodyFile(named:), attempts: record.task.attempts,
                    bytesReceived: record.task.bytesReceived)
            }
            return record
        }
        return found
    }

    func storedTask(_ id: TaskID) throws(Failure) -> StoredTask? {
        try connection.first(Self.selectTask, .id(id)) { row throws(Failure) in try storedTask(&row) }
    }

    private func storedTask(_ row: inout Row) throws(Failure) -> StoredTask {
        var (task, hasOptions) = try row.storedTask()
        guard hasOptions, let options = try options(of: task.id) else { return task }
        task.request.options = options
        task.refreshed = try refreshed(task)
        if let refreshed = task.refreshed { task.request = refreshed.applied(to: task.request) }
        return task
    }

    /// 0, for "not known", for what was enqueued in another boot: a file system may get another number at each.
    private static let device = """
        iif(tasks.id < (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'first_task_of_boot'), 0, directory_device)
        """
    private static let columns = """
        tasks.id, tasks.session_id, lane_id, round, attempts, attempts_without_progress, bytes_received, enqueued_ms,
        tasks.priority, idempotency_key, destination,
        url, \(device), directory_inode, if_exists, starts_suspended, mode, requests.headers, user_data, has_options,
        scheme, server, port,
        entity_tag, last_modified, checkpoints.final_url, checkpoints.size, synced_offset, boot_id, digest,
        content_encoding, checkpoints.file_name, part_device, part_inode, part_length, part_checksum, synced_checksum,
        intents.device, intents.inode, intents.size, intents.file_name, furthest_offset, suspended_ms,
        challenge_id, bytes_sent, mismatches, is_under_way, constraints_id, tasks.part
        """
    private static let tables = """
        tasks JOIN requests ON requests.task_id = tasks.id JOIN lanes ON lanes.id = lane_id
        LEFT JOIN checkpoints ON checkpoints.task_id = tasks.id LEFT JOIN intents ON intents.task_id = tasks.id
        """
    private static let selectTask = Query("SELECT \(columns) FROM \(tables) WHERE tasks.id = ?")
    private static let selectWithIntent = Query(
        "SELECT \(columns) FROM intents AS pending CROSS JOIN \(tables) WHERE tasks.id = pending.task_id")
    private static let selectRecord = Query(
        """
        SELECT \(columns), state, \(Row.outcomeColumns)
        FROM \(tables) LEFT JOIN answers ON answers.task_id = tasks.id WHERE tasks.id = ?
        """)
}

extension Row {
    mutating func state() -> TaskState { TaskState(rawValue: number()) ?? .waiting }

    fileprivate mutating func finishIntent() -> FinishIntent? {
        let device = optionalBits()
        let inode = optionalBits()
        let size = optionalBits()
        let name = optionalText()
        guard let device, let inode, let size else { return nil }
        return FinishIntent(device: device, inode: inode, size: size, name: name)
    }

    fileprivate mutating func storedTask() throws(Failure) -> (StoredTask, hasOptions: Bool) {
        let id = taskID()
        let session = sessionID()
        let lane = laneID()
        let round = bits()
        let attempts: UInt32 = number()
        let withoutProgress: UInt32 = number()
        let bytesReceived = bits()
        let enqueued = integer()
        var hasOptions = false
        let request = try request(&hasOptions)
        var task = StoredTask(
            id: id, session: session, lane: lane, round: round, request: request, origin: origin(),
            checkpoint: checkpoint(), intent: finishIntent(), attempts: attempts,
            attemptsWithoutProgress: withoutProgress, bytesReceived: bytesReceived, enqueuedMilliseconds: enqueued,
            furthestOffset: bits(), suspendedMilliseconds: integer(),
            challenge: optionalNumber().map(ChallengeID.init))
        task.bytesSent = bits()
        task.hadMismatch = flag()
        task.isUnderWay = flag()
        task.constraints = constraintsID()
        task.part = bits()
        return (task, hasOptions)
    }

    private mutating func request(_ hasOptions: inout Bool) throws(Failure) -> Request {
        var request = Request(url: "")
        request.priority = number()
        request.idempotencyKey = optionalText()
        let path = optionalText()
        request.url = text()
        let device = bits()
        let inode = bits()
        request.destination = path.map { Destination(path: $0, directoryDevice: device, directoryInode: inode) }
        request.ifExists = ExistsPolicy(rawValue: number()) ?? .fail
        request.startsSuspended = flag()
        request.mode = number()
        request.headers = try HeaderBlob.unpack(optionalBlob())
        request.userData = optionalBlob()
        hasOptions = flag()
        return request
    }

    private mutating func checkpoint() -> Checkpoint? {
        let validator = Validator(entityTag: optionalText(), lastModified: optionalText())
        let finalURL = optionalText()
        let size = optionalBits()
        let offset = bits()
        let boot = text()
        let facts = RepresentationFacts(
            digest: optionalText().flatMap(Checksum.init), contentEncoding: optionalText(), name: optionalText())
        let (device, inode, length) = (optionalBits(), optionalBits(), optionalBits())
        let checksums = [optionalBits(), optionalBits()].map { $0.map(UInt32.init(truncatingIfNeeded:)) }
        guard let finalURL else { return nil }
        var part: PartStamp?
        if let device, let inode, let length {
            part = PartStamp(device: device, inode: inode, length: length, checksum: checksums[0])
        }
        return Checkpoint(
            validator: validator, finalURL: finalURL, size: size, syncedOffset: offset, bootID: boot, facts: facts,
            part: part, syncedChecksum: checksums[1])
    }
}
