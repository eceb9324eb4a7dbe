internal import BackhaulModel
internal import CBackhaul

// Unsafe: a batch is a list that the calling program gets. The pointers in its items lead into the batch's memory (the
// arena). They are valid until the program releases the batch.

extension bh_event {
    init(_ event: Event, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_event>.size
        id = event.id.rawValue
        round = event.round
        time_ms = event.timeMilliseconds
        switch event.kind {
        case .sessionFinished: kind = Int32(BH_EVENT_SESSION_FINISHED)
        case .challenge(let open):
            kind = Int32(BH_EVENT_CHALLENGE)
            guard let open else { return }
            let buffer = arena.buffer(for: 1, of: bh_challenge.self)
            buffer.initialize(to: bh_challenge(open, in: &arena))
            challenge = UnsafePointer(buffer)
        case .activity(let identifier):
            kind = Int32(BH_EVENT_ACTIVITY)
            activity = arena.place(identifier)
        case .groupFinished(let finished):
            kind = Int32(BH_EVENT_GROUP_FINISHED)
            group = arena.place(finished.name)
            group_succeeded = finished.succeeded
            group_failed = finished.failed
            group_cancelled = finished.cancelled
        case .taskEnded(let task):
            kind = Int32(BH_EVENT_TASK_ENDED)
            set(task, in: &arena)
        }
    }

    private mutating func set(_ task: EndedTask, in arena: inout Arena) {
        task_id = task.id.rawValue
        url = arena.place(task.url)
        idempotency_key = arena.place(task.idempotencyKey)
        user_data = arena.place(task.userData)
        user_data_size = task.userData?.count ?? 0
        task_kind = task.kind.rawValue
        group = arena.place(task.group)
        set(task.outcome, in: &arena)
    }

    private mutating func set(_ outcome: Outcome, in arena: inout Arena) {
        task_state = outcome.state.rawValue
        status = (outcome.failure?.status ?? .ok).rawValue
        error_domain = (outcome.failure?.domain ?? .none).rawValue
        error_detail = outcome.failure?.detail ?? 0
        error_message = arena.place(outcome.failure?.message)
        path = arena.place(outcome.path)
        size = outcome.size
        attempts = outcome.attempts
        bytes_received = outcome.bytesReceived
        bytes_sent = outcome.bytesSent
        checksum = arena.place(outcome.checksum?.text)
        response_body = arena.place(outcome.response.responseBody)
        response_body_size = outcome.response.responseBody?.count ?? 0
        final_url = arena.place(outcome.response.finalURL)
        media_type = arena.place(outcome.response.mediaType)
        http_status = outcome.response.httpStatus
        headers = arena.place(outcome.response.headers)
        header_count = outcome.response.headers.count
        error_body = arena.place(outcome.response.errorBody)
        error_body_size = outcome.response.errorBody?.count ?? 0
    }
}

extension Arena {
    /// Places an array of header fields. Nil if there are none.
    mutating func place(_ fields: [HeaderField]) -> UnsafePointer<bh_header>? {
        guard !fields.isEmpty else { return nil }
        let headers = buffer(for: fields.count, of: bh_header.self)
        for (index, field) in fields.enumerated() {
            (headers + index).initialize(to: bh_header(name: place(field.name), value: place(field.value)))
        }
        return UnsafePointer(headers)
    }
}
