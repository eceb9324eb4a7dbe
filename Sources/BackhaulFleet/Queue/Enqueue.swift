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
                    """
                    SELECT live_tasks, round, is_invalidating, application FROM backhaul.sessions
                    WHERE id = $1 FOR UPDATE
                    """, [.id(session)])
                guard let row = locked.first else { throw FleetError(.sessionRemoved) }
                if let results = try Self.earlierResults(of: command, in: database) { return results }
                if row.bool(2) { throw FleetError(.invalidated, "the session is invalidated and takes no tasks") }
                let results = try insert(
                    requests, round: row.integer(0) == 0 ? row.integer(1) + 1 : row.integer(1),
                    application: row.integer(3))
                try database.run(
                    "DELETE FROM backhaul.replies WHERE client = $1 AND sequence <= $2",
                    [.text(client), .unsigned(repliedThrough)])
                try database.run(
                    "INSERT INTO backhaul.replies (client, sequence, reply, session) VALUES ($1, $2, $3, $4)",
                    [
                        .text(client), .unsigned(command.sequence), .bytes(Wire.encodeReply(.enqueued(results))),
                        .id(session),
                    ])
                return results
            }
        } catch where error.constraint == "live_destination" {
            throw FleetError(
                .destinationInUse, "another task of the fleet writes to one of these destinations; wait for its end")
        }
    }

    /// Returns the results of the command if it was performed, and nil otherwise.
    static func earlierResults(
        of command: CommandID, in database: DatabaseConnection
    ) throws(FleetError) -> [Enqueued]? {
        let rows = try database.run(
            "SELECT reply FROM backhaul.replies WHERE client = $1 AND sequence = $2",
            [.text(command.client.text), .unsigned(command.sequence)])
        guard let row = rows.first else { return nil }
        let reply = try FleetError.wrapping(try Wire.decodeReply(row.bytes(0)))
        guard case .enqueued(let results) = reply else { return nil }
        return results
    }

    private func insert(
        _ requests: [FleetRequest], round: Int64, application: Int64
    ) throws(FleetError) -> [Enqueued] {
        let existing = try existingTasks(requests)
        var results = [Enqueued?](repeating: nil, count: requests.count)
        var new: [Int] = []
        var firstOfKey: [String: Int] = [:]
        for (index, item) in requests.enumerated() {
            if let key = item.request.idempotencyKey {
                if let found = existing[key] {
                    try checkSame(item, found.request, index)
                    results[index] = found.result
                    continue
                }
                if let first = firstOfKey[key] {
                    try checkSame(item, requests[first].request, index)
                    continue
                }
                firstOfKey[key] = index
            }
            if item.wouldReplace {
                throw FleetError(
                    Failure(
                        .destinationExists, "the file \(item.destination) exists; choose another path or replace it",
                        index: UInt64(index)))
            }
            if item.lacksDirectory {
                throw FleetError(
                    Failure(
                        .destinationUnavailable, "the directory of \(item.destination) does not exist; make it",
                        index: UInt64(index)))
            }
            new.append(index)
        }
        let ids = try insertNew(new.map { requests[$0] }, round: round, application: application)
        for (index, id) in zip(new, ids) { results[index] = Enqueued(task: id, disposition: .new) }
        for (index, item) in requests.enumerated() where results[index] == nil {
            guard let first = item.request.idempotencyKey.flatMap({ firstOfKey[$0] }), let made = results[first] else {
                continue
            }
            results[index] = Enqueued(task: made.task, disposition: .existing, state: .waiting)
        }
        return results.map { $0 ?? Enqueued(task: .zero, disposition: .notApplied) }
    }

    private func checkSame(_ item: FleetRequest, _ earlier: Request, _ index: Int) throws(FleetError) {
        guard !FleetRequest.isSame(item.request, earlier) else { return }
        throw FleetError(
            Failure(
                .keyConflict, "another request has the same idempotency key, and another URL or destination",
                index: UInt64(index)))
    }

    private struct Existing {
        var request: Request
        var result: Enqueued
    }

    private func existingTasks(_ requests: [FleetRequest]) throws(FleetError) -> [String: Existing] {
        let keys = requests.compactMap(\.request.idempotencyKey)
        guard !keys.isEmpty else { return [:] }
        let rows = try database.run(
            """
            SELECT key, request, id, coalesce(
                    (SELECT state FROM backhaul.live l WHERE l.task = t.id),
                    (SELECT state FROM backhaul.ends e WHERE e.session = t.session AND e.task = t.id)),
                (SELECT v.id FROM backhaul.events v WHERE v.session = t.session AND v.task = t.id)
            FROM backhaul.tasks t WHERE session = $1 AND key = ANY ($2::text[])
            """, [.id(session), .texts(keys)])
        var found: [String: Existing] = [:]
        for row in rows {
            let result = Enqueued(
                task: TaskID(rawValue: row.unsigned(2)), disposition: .existing,
                state: FleetTaskState(rawValue: row.integer(3))?.shown, end: EventID(rawValue: row.unsigned(4)))
            found[row.text(0)] = Existing(
                request: try FleetError.wrapping(try Wire.decodeRequest(row.bytes(1))), result: result)
        }
        return found
    }

    /// Returns the ids of the new tasks, in the order of the requests.
    private func insertNew(
        _ requests: [FleetRequest], round: Int64, application: Int64
    ) throws(FleetError) -> [TaskID] {
        guard !requests.isEmpty else { return [] }
        // A new round begins: its first event is not the end of the last round.
        try database.run(
            """
            UPDATE backhaul.sessions SET live_tasks = live_tasks + $2, round = $3 WHERE id = $1
            """, [.id(session), .integer(Int64(requests.count)), .integer(round)])
        try database.run(
            "DELETE FROM backhaul.events WHERE session = $1 AND task IS NULL AND round < $2",
            [.id(session), .integer(round)])
        // A conflict would take a number of the identity.
        try database.run(
            """
            INSERT INTO backhaul.origins (name) SELECT DISTINCT name FROM unnest($1::text[]) AS given (name)
            WHERE NOT EXISTS (SELECT 1 FROM backhaul.origins o WHERE o.name = given.name) ORDER BY name
            ON CONFLICT DO NOTHING
            """, [.texts(requests.map(\.origin))])
        let states = requests.map { ($0.request.startsSuspended ? FleetTaskState.suspended : .queued).rawValue }
        // The live tasks get their numbers in the order of the requests. A join of the requests with them could get a
        // bad plan, because the planner does not know how many there are.
        let rows = try database.run(
            """
            WITH given AS MATERIALIZED (
                SELECT r.*, o.id AS origin_id, to_timestamp(nullif(start_ms, 0) / 1000.0) AS not_before
                FROM unnest($4::text[], $5::smallint[], $6::integer[], $7::text[], $8::text[], $9::bytea[],
                        $10::bigint[]) WITH ORDINALITY
                    AS r (origin, state, priority, destination, key, request, start_ms, n)
                JOIN backhaul.origins o ON o.name = r.origin),
            queued AS (
                INSERT INTO backhaul.live (session, application, origin, state, priority, waits_until, destination)
                SELECT $1, $3, origin_id, state, priority, not_before, destination FROM given ORDER BY n
                RETURNING task),
            numbered AS MATERIALIZED (SELECT array_agg(task ORDER BY task) AS tasks FROM queued),
            stored AS (
                INSERT INTO backhaul.tasks (session, id, round, key, request, not_before)
                SELECT $1, (SELECT tasks FROM numbered)[n::integer], $2, key, request, not_before FROM given)
            SELECT task FROM queued ORDER BY task
            """,
            [
                .id(session), .integer(round), .integer(application), .texts(requests.map(\.origin)),
                .integers(states), .integers(requests.map { Int64($0.request.priority) }),
                .texts(requests.map(\.destination)), .texts(requests.map(\.request.idempotencyKey)),
                .byteLists(requests.map { Wire.encodeRequest($0.request) }),
                .integers(requests.map { $0.request.options.earliestStartMilliseconds ?? 0 }),
            ])
        return rows.map { TaskID(rawValue: $0.unsigned(0)) }
    }
}

extension ClientID {
    /// The text that names the client in the database.
    var text: String { String(high, radix: 16) + "-" + String(low, radix: 16) }
}
