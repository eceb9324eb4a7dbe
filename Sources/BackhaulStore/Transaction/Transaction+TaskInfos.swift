public import BackhaulModel

/// Tasks as listings show them, without live progress.
extension Transaction {
    /// The selected tasks with greater ids, by id, up to `maximum`, ended ones too until their event is acknowledged.
    /// Ends early, with `more`, when they have `Limits.chunkSize` bytes together. `running`: which of the waiting rows
    /// run at this moment. `bootMilliseconds` and `now` are the same moment on two clocks. `places`: what the tasks are
    /// held back with, one for each.
    public func taskInfos(
        _ session: SessionID, _ selection: TaskSelection, after: TaskID, maximum: Int, running: Set<TaskID>,
        bootMilliseconds: Int64, now: Int64
    ) throws(Failure) -> (tasks: [TaskInfo], places: [TaskPlace], more: Bool) {
        var page = Page(maximum: min(max(0, maximum), Limits.batchCount))
        let moment = Moment(running: running, bootMilliseconds: bootMilliseconds, now: now)
        var group: GroupID?
        if let name = selection.group {
            group = try self.group(name, of: session)
            if group == nil { return ([], [], false) }
        }
        if let ids = selection.enumerated(running: running) {
            for id in ids.sorted() where id > after {
                guard try add(id, to: &page, session, selection, moment) else { break }
            }
        } else {
            try fillRunning(selection.states, running)
            let states = selection.states
            try connection.eachWhile(
                group == nil ? Self.selectIDs : Self.selectIDsOfGroup, group.map { .id($0) } ?? .id(session),
                .id(after), .flag(states.contains(TaskStates(.waiting))),
                .flag(states.contains(TaskStates(.running))), .flag(states.contains(TaskStates(.suspended))),
                .flag(states.contains(TaskStates(.succeeded))), .flag(states.contains(TaskStates(.failed))),
                .flag(states.contains(TaskStates(.cancelled))), .number(page.maximum + 1)
            ) { row throws(Failure) in
                try add(row.taskID(), to: &page, session, selection, moment)
            }
            try clearSelection()
        }
        try fillConstraints(of: &page)
        return (page.tasks, page.places, page.more)
    }

    /// What the tasks themselves state: read once for all that state the same.
    private func fillConstraints(of page: inout Page) throws(Failure) {
        var ids = Set(page.places.lazy.map(\.constraints))
        ids.remove(.session)
        guard !ids.isEmpty else { return }
        var stated: [ConstraintsID: Boxed<Constraints>] = [:]
        for row in try statedConstraints(ids) where row.constraints.stated != .none {
            stated[row.id] = Boxed(row.constraints.stated)
        }
        for (index, place) in page.places.enumerated() { page.tasks[index].constraints = stated[place.constraints] }
    }

    private struct Page {
        var tasks: [TaskInfo] = []
        var places: [TaskPlace] = []
        var more = false
        let maximum: Int
        var room = Limits.chunkSize
        init(maximum: Int) { self.maximum = maximum }
    }

    fileprivate struct Moment {
        var running: Set<TaskID>
        var bootMilliseconds: Int64
        var now: Int64
    }

    /// False when the page is full.
    private func add(
        _ id: TaskID, to page: inout Page, _ session: SessionID, _ selection: TaskSelection, _ moment: Moment
    ) throws(Failure) -> Bool {
        let keptFile = keptFile
        let found = try connection.first(Self.select, .id(id), .id(session)) { row throws(Failure) in
            let place = TaskPlace(
                lane: row.laneID(), constraints: row.constraintsID(), expectedSize: row.optionalBits())
            return (info: row.taskInfo(at: moment, keptFile: keptFile), place: place)
        }
        guard let (info, place) = found, selection.states.contains(TaskStates(info.state)),
            selection.group.map({ ($0.utf8.elementsEqual((info.group ?? "").utf8)) }) ?? true
        else { return true }
        guard page.tasks.count < page.maximum, page.room > 0 else {
            page.more = true
            return false
        }
        page.room -= 200 + info.url.utf8.count + (info.destinationPath?.utf8.count ?? 0) + (info.userData?.count ?? 0)
        page.tasks.append(info)
        page.places.append(place)
        return true
    }

    // Ranges of one index, merged: none is sorted, and none is walked that was not asked for.
    private static let selectIDs = Query(
        """
        SELECT id FROM tasks WHERE session_id = ?1 AND state = 1 AND id > ?2 AND (?3 OR ?4)
            AND iif(?3 = ?4, 1, iif(id IN running, ?4, ?3))
        UNION ALL SELECT id FROM tasks WHERE session_id = ?1 AND state = 3 AND id > ?2 AND ?5
        UNION ALL SELECT id FROM tasks WHERE session_id = ?1 AND state = 4 AND id > ?2 AND ?6
        UNION ALL SELECT id FROM tasks WHERE session_id = ?1 AND state = 5 AND id > ?2 AND ?7
        UNION ALL SELECT id FROM tasks WHERE session_id = ?1 AND state = 6 AND id > ?2 AND ?8
        ORDER BY id LIMIT ?9
        """)
    private static let selectIDsOfGroup = Query(
        """
        SELECT id FROM tasks INDEXED BY tasks_by_group WHERE group_id = ?1 AND id > ?2 AND CASE state
            WHEN 1 THEN iif(?3 = ?4, ?3, iif(id IN running, ?4, ?3)) WHEN 3 THEN ?5 WHEN 4 THEN ?6 WHEN 5 THEN ?7
            ELSE ?8 END
        ORDER BY id LIMIT ?9
        """)
    private static let select = Query(
        """
        SELECT lane_id, constraints_id, expected_size, tasks.id, round, state, due_boot_ms, due_reason,
            EXISTS (SELECT 1 FROM intents WHERE intents.task_id = tasks.id),
            url, destination, idempotency_key, user_data, tasks.priority, status, error_domain, error_detail,
            error_message, http_status, attempts, synced_offset, checkpoints.size, tasks.size, enqueued_ms,
            task_kind, groups.name, ended_ms, path,
            body_size, challenges.kind, origin, has_realm, realm, challenges.task_id,
            earliest_start_ms, request_options.latest_start_ms, expected_bytes_received, expected_bytes_sent
        FROM tasks JOIN requests ON requests.task_id = tasks.id
            LEFT JOIN checkpoints ON checkpoints.task_id = tasks.id
            LEFT JOIN challenges ON challenges.id = challenge_id AND due_reason = 8
            LEFT JOIN groups ON groups.id = group_id
            LEFT JOIN request_options ON has_options AND request_options.task_id = tasks.id
        WHERE tasks.id = ? AND tasks.session_id = ?
        """)
}

extension TaskSelection {
    /// The tasks that it can mean at most, when they are few enough to be looked up one by one.
    func enumerated(running: Set<TaskID>) -> Set<TaskID>? {
        if !ids.isEmpty { return Set(ids) }
        return states == TaskStates(.running) ? running : nil
    }
}

extension Row {
    fileprivate mutating func taskInfo(at moment: Transaction.Moment, keptFile: (TaskID) -> String) -> TaskInfo {
        let id = taskID()
        let round = bits()
        var state = state()
        let due = optionalInteger()
        let dueReason = WaitReason(rawValue: number()) ?? .retry
        let isFinishing = flag()
        if state == .waiting, moment.running.contains(id) { state = .running }
        let reason: WaitReason =
            switch state {
            case .suspended: .suspended
            case .waiting: due != nil ? dueReason : isFinishing ? .finishing : .turn
            case .running: isFinishing ? .finishing : .none
            default: .none
            }
        let url = text()
        let destination = optionalText()
        let key = optionalText()
        let userData = optionalBlob()
        let priority: Int32 = number()
        let failure = failure()
        let httpStatus: Int32 = number()
        let attempts: UInt32 = number()
        let syncedOffset = bits()
        let sizeOfWhole = optionalBits()
        let sizeOfEnded = bits()
        let enqueued = integer()
        let kind = TaskKind(rawValue: number()) ?? .download
        let group = optionalText()
        let ended = optionalInteger()
        // Stored only when it is neither of the two others.
        let path = optionalText() ?? destination ?? keptFile(id)
        let bodySize = bits()
        let space = protectionSpace()
        let next = due.map { moment.now &+ max(0, $0 &- moment.bootMilliseconds) } ?? 0
        var info = TaskInfo(
            id: id, round: round, state: state, reason: reason,
            reasonText: reason == .credential ? space?.sentence ?? reason.text : reason.text,
            nextAttemptMilliseconds: reason == .credential ? 0 : next, url: url,
            destinationPath: destination, idempotencyKey: key, userData: userData, priority: priority,
            failure: failure, httpStatus: httpStatus, attempts: attempts,
            offset: state == .succeeded ? sizeOfEnded : syncedOffset,
            size: state == .succeeded ? sizeOfEnded : sizeOfWhole, bytesPerSecond: 0, enqueuedMilliseconds: enqueued)
        info.kind = kind
        info.readStarts(&self)
        info.bodySize = bodySize
        if state == .succeeded { info.bodySent = bodySize }
        info.group = group
        info.endedMilliseconds = ended ?? 0
        if state == .succeeded, kind == .download { info.path = path }
        return info
    }
}
