internal import BackhaulModel
internal import BackhaulWire

/// The enqueue of one chunk of requests: all of them become tasks, or none.
struct Enqueue {
    let database: DatabaseConnection
    let session: SessionID

    /// - command: the id of the host's command. A repetition of the command gets the reply to the first one.
    /// - repliedThrough: the host has the replies to all its commands up to this number.
    func run(
        _ requests: [FleetRequest], _ command: CommandID, repliedThrough: UInt64
    ) throws(FleetError) -> [Enqueued] {
        let client = command.client.text
        do throws(FleetError) {
            return try database.transaction { () throws(FleetError) in
                // The lock orders the enqueues of the session, and repetitions of this command.
                let locked = try database.run(
                    "SELECT live_tasks, round, is_invalidating FROM backhaul.sessions WHERE id = $1 FOR UPDATE",
                    [.unsigned(session.rawValue)])
                guard let row = locked.first else { throw FleetError(.sessionRemoved) }
                if let reply = try earlierReply(client, command.sequence) { return reply }
                if row.bool(2) { throw FleetError(.invalidated, "the session is invalidated and takes no tasks") }
                let results = try insert(requests, round: row.integer(0) == 0 ? row.integer(1) + 1 : row.integer(1))
                try database.run(
                    "DELETE FROM backhaul.replies WHERE client = $1 AND sequence <= $2",
                    [.text(client), .unsigned(repliedThrough)])
                try database.run(
                    "INSERT INTO backhaul.replies (client, sequence, reply) VALUES ($1, $2, $3)",
                    [.text(client), .unsigned(command.sequence), .bytes(Wire.encodeReply(.enqueued(results)))])
                return results
            }
        } catch where error.constraint == "tasks_destination" {
            throw FleetError(
                .destinationInUse, "another task of the fleet writes to one of these destinations; wait for its end")
        }
    }

    private func earlierReply(_ client: String, _ sequence: UInt64) throws(FleetError) -> [Enqueued]? {
        let rows = try database.run(
            "SELECT reply FROM backhaul.replies WHERE client = $1 AND sequence = $2",
            [.text(client), .unsigned(sequence)])
        guard let row = rows.first else { return nil }
        do throws(Failure) {
            guard case .enqueued(let results) = try Wire.decodeReply(row.bytes(0)) else { return nil }
            return results
        } catch {
            throw FleetError(error)
        }
    }

    private func insert(_ requests: [FleetRequest], round: Int64) throws(FleetError) -> [Enqueued] {
        let existing = try existingTasks(requests)
        var results = [Enqueued?](repeating: nil, count: requests.count)
        var new: [Int] = []
        var firstOfKey: [String: Int] = [:]
        for (index, item) in requests.enumerated() {
            if let key = item.request.idempotencyKey {
                if let found = existing[key] {
                    try checkSame(item, url: found.url, destination: found.destination, index)
                    results[index] = found.result
                    continue
                }
                if let first = firstOfKey[key] {
                    let earlier = requests[first]
                    try checkSame(item, url: earlier.request.url, destination: earlier.destination, index)
                    continue
                }
                firstOfKey[key] = index
            }
            new.append(index)
        }
        let ids = try insertNew(new.map { requests[$0] }, round: round)
        for (index, id) in zip(new, ids) { results[index] = Enqueued(task: id, disposition: .new) }
        for (index, item) in requests.enumerated() where results[index] == nil {
            guard let first = item.request.idempotencyKey.flatMap({ firstOfKey[$0] }), let made = results[first] else {
                continue
            }
            results[index] = Enqueued(task: made.task, disposition: .existing, state: .waiting)
        }
        return results.map { $0 ?? Enqueued(task: .zero, disposition: .notApplied) }
    }

    private func checkSame(_ item: FleetRequest, url: String, destination: String, _ index: Int) throws(FleetError) {
        guard !FleetRequest.isSame(item.request, url: url, destination: destination) else { return }
        throw FleetError(
            Failure(
                .keyConflict, "another request has the same idempotency key, and another URL or destination",
                index: UInt64(index)))
    }

    private struct Existing {
        var url: String
        var destination: String
        var result: Enqueued
    }

    private func existingTasks(_ requests: [FleetRequest]) throws(FleetError) -> [String: Existing] {
        let keys = requests.compactMap(\.request.idempotencyKey)
        guard !keys.isEmpty else { return [:] }
        let rows = try database.run(
            """
            SELECT key, url, destination, id, state, (SELECT max(id) FROM backhaul.events WHERE task = t.id)
            FROM backhaul.tasks t WHERE session = $1 AND key = ANY ($2::text[])
            """, [.unsigned(session.rawValue), .texts(keys)])
        var found: [String: Existing] = [:]
        for row in rows {
            let result = Enqueued(
                task: TaskID(rawValue: row.unsigned(3)), disposition: .existing,
                state: FleetTaskState(rawValue: row.integer(4))?.shown, end: EventID(rawValue: row.unsigned(5)))
            found[row.text(0)] = Existing(url: row.text(1), destination: row.text(2), result: result)
        }
        return found
    }

    /// Returns the ids of the new tasks, in the order of the requests.
    private func insertNew(_ requests: [FleetRequest], round: Int64) throws(FleetError) -> [TaskID] {
        guard !requests.isEmpty else { return [] }
        // A new round begins: its first event is not the end of the last round.
        try database.run(
            """
            UPDATE backhaul.sessions SET live_tasks = live_tasks + $2, round = $3 WHERE id = $1
            """, [.unsigned(session.rawValue), .integer(Int64(requests.count)), .integer(round)])
        try database.run(
            "DELETE FROM backhaul.events WHERE session = $1 AND task IS NULL AND round < $2",
            [.unsigned(session.rawValue), .integer(round)])
        try database.run(
            """
            INSERT INTO backhaul.origins (name) SELECT DISTINCT name FROM unnest($1::text[]) AS name ORDER BY name
            ON CONFLICT DO NOTHING
            """, [.texts(requests.map(\.origin))])
        let states = requests.map { ($0.request.startsSuspended ? FleetTaskState.suspended : .queued).rawValue }
        let rows = try database.run(
            """
            INSERT INTO backhaul.tasks
                (session, round, origin, state, priority, url, destination, key, request, not_before)
            SELECT $1, $2, o.id, r.state, r.priority, r.url, r.destination, r.key, r.request,
                to_timestamp(nullif(r.start_ms, 0) / 1000.0)
            FROM unnest($3::text[], $4::smallint[], $5::integer[], $6::text[], $7::text[], $8::text[], $9::bytea[],
                    $10::bigint[]) WITH ORDINALITY
                AS r (origin, state, priority, url, destination, key, request, start_ms, n)
            JOIN backhaul.origins o ON o.name = r.origin ORDER BY r.n RETURNING id
            """,
            [
                .unsigned(session.rawValue), .integer(round), .texts(requests.map(\.origin)), .integers(states),
                .integers(requests.map { Int64($0.request.priority) }), .texts(requests.map(\.request.url)),
                .texts(requests.map(\.destination)), .texts(requests.map(\.request.idempotencyKey)),
                .byteLists(requests.map { Wire.encodeRequest($0.request) }),
                .integers(requests.map { $0.request.options.earliestStartMilliseconds ?? 0 }),
            ])
        return rows.map { TaskID(rawValue: $0.unsigned(0)) }.sorted()
    }
}

extension ClientID {
    /// The text that names the client in the database.
    var text: String { String(high, radix: 16) + "-" + String(low, radix: 16) }
}
