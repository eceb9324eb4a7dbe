public import BackhaulModel

/// What the host has given in the place of headers and URLs that had expired. The requests stay as they were enqueued,
/// so that the same request with its idempotency key still finds its task; what was given is laid over them.
extension Transaction {
    /// Writes the answer down for the tasks that it is for: with headers all live ones of the origin that refresh them,
    /// with a URL the one task, which goes to that origin's lane. The tasks stay as they are until they are freed.
    public func refresh(
        _ challenge: Challenge, with answer: RefreshedRequest, origin: Origin?, in session: SessionID
    ) throws(Failure) {
        if let task = challenge.space.task { return try refresh(task, with: answer, origin: origin, in: session) }
        for lane in try lanesWaiting(for: challenge.id, freed: false) {
            let before = try headers(of: lane)?.refreshed.headers ?? []
            try connection.run(
                Self.writeHeaders, .id(lane), .id(challenge.id),
                .optional(HeaderBlob.pack(before.replacing(answer.headers))),
                .optional(answer.expiresMilliseconds), .flag(answer.isDeclined))
        }
    }

    private func refresh(
        _ task: TaskID, with answer: RefreshedRequest, origin: Origin?, in session: SessionID
    ) throws(Failure) {
        let before = try request(of: task)
        let headers = (before?.headers ?? []).replacing(answer.headers)
        try connection.run(
            Self.writeRequest, .id(task), .id(answer.challenge), .optional(answer.url ?? before?.url),
            .optional(HeaderBlob.pack(headers)), .optional(answer.expiresMilliseconds), .flag(answer.isDeclined))
        guard answer.url != nil, let origin else { return }
        // The host says that it is the same file. Without a strong entity tag and a size nothing else does.
        try connection.run(Self.forgetAddress, .id(task))
        try connection.run(Self.forgetUnprovable, .id(task))
        let old = try connection.first(Self.selectLane, .id(task)) { row throws(Failure) in row.laneID() }
        let new = try findOrMakeLane(session, origin)
        guard let old, old != new else { return }
        try connection.run(Self.moveTask, .id(task), .id(new))
        try removeEmptyLanes(among: [old])
    }

    /// What is laid over the task's request, nil when nothing is.
    func refreshed(_ task: StoredTask) throws(Failure) -> RefreshedRequest? {
        switch task.request.options.refresh {
        case .none: return nil
        case .headers:
            guard let found = try headers(of: task.lane), task.id <= found.through else { return nil }
            return found.refreshed
        case .url: return try request(of: task.id)
        }
    }

    private func headers(of lane: LaneID) throws(Failure) -> (refreshed: RefreshedRequest, through: TaskID)? {
        try connection.first(Self.selectHeaders, .id(lane)) { row throws(Failure) in
            let through = row.taskID()
            return (try row.refreshed(), through)
        }
    }

    private func request(of task: TaskID) throws(Failure) -> RefreshedRequest? {
        try connection.first(Self.selectRequest, .id(task)) { row throws(Failure) in try row.refreshed() }
    }

    private static let columns = "challenge_id, url, headers, expires_ms, is_declined"
    private static let selectHeaders = Query(
        """
        SELECT through_task_id, challenge_id, NULL, headers, expires_ms, is_declined FROM refreshed_headers
        WHERE lane_id = ?
        """)
    private static let selectRequest = Query("SELECT \(columns) FROM refreshed_requests WHERE task_id = ?")
    private static let writeHeaders = Query(
        """
        INSERT OR REPLACE INTO refreshed_headers (lane_id, challenge_id, headers, expires_ms, is_declined,
            through_task_id)
        VALUES (?, ?, ?, ?, ?, (SELECT max(id) FROM tasks))
        """)
    private static let writeRequest = Query(
        "INSERT OR REPLACE INTO refreshed_requests (task_id, \(columns)) VALUES (?, ?, ?, ?, ?, ?)")
    private static let forgetAddress = Query(
        """
        UPDATE checkpoints SET final_url = '' WHERE task_id = ? AND entity_tag IS NOT NULL AND size IS NOT NULL
        """)
    private static let forgetUnprovable = Query("DELETE FROM checkpoints WHERE task_id = ? AND final_url <> ''")
    private static let selectLane = Query("SELECT lane_id FROM tasks WHERE id = ?")
    private static let moveTask = Query("UPDATE tasks SET lane_id = ?2 WHERE id = ?1")
}

extension Row {
    fileprivate mutating func refreshed() throws(Failure) -> RefreshedRequest {
        RefreshedRequest(
            challenge: challengeID(), url: optionalText(), headers: try HeaderBlob.unpack(optionalBlob()),
            expiresMilliseconds: optionalInteger(), isDeclined: flag())
    }
}
