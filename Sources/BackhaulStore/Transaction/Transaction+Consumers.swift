public import BackhaulModel
public import BackhaulPlatform

/// Who consumes a session. Rows, so that a claim outlives the engine that granted it.
extension Transaction {
    /// Gives up the session's claim if this handle has it. Harmless when repeated.
    public func releaseHandle(client: ClientID, handle: HandleID, session: SessionID) throws(Failure) {
        try connection.run(
            Self.deleteConsumer, .id(session), .bits(handle.rawValue), .bits(client.high), .bits(client.low))
    }

    /// As above, for a handle of which no more is known. Returns the session's identifier, if it consumed one.
    public func releaseHandle(client: ClientID, handle: HandleID) throws(Failure) -> String? {
        let found = try connection.first(
            Self.selectClaim, .bits(handle.rawValue), .bits(client.high), .bits(client.low)
        ) { row throws(Failure) in (session: row.sessionID(), identifier: row.text()) }
        guard let found else { return nil }
        try releaseHandle(client: client, handle: handle, session: found.session)
        return found.identifier
    }

    /// The client is gone for good: gives up all its claims and forgets its commands.
    public func releaseClient(_ client: ClientID) throws(Failure) {
        try connection.run(Self.deleteClient, .bits(client.high), .bits(client.low))
        try connection.run(Self.deleteApplied, .bits(client.high), .bits(client.low))
    }

    /// Of this process, which says itself that it has closed them.
    public func releaseDeparted(_ departed: [ClientID], of process: ProcessIdentity) throws(Failure) {
        for client in departed {
            try connection.run(
                Self.deleteDeparted, .bits(client.high), .bits(client.low), .number(process.processID),
                .bits(process.startTime), .text(process.bootID))
            if connection.changes == 1 {
                try connection.run(Self.deleteApplied, .bits(client.high), .bits(client.low))
            }
        }
    }

    /// Releases every client whose process is gone, and commands of clients that nobody knows.
    public func releaseDeadConsumers() throws(Failure) {
        for consumer in try clients() where !consumer.process.isAlive { try releaseClient(consumer.client) }
        try connection.run(Self.deleteOrphans)
    }

    /// The clients that have opened sessions here and were not released, with their processes.
    public func clients() throws(Failure) -> [(client: ClientID, process: ProcessIdentity)] {
        try connection.all(Self.selectClients) { row throws(Failure) in
            (ClientID(high: row.bits(), low: row.bits()), row.process())
        }
    }

    func remember(_ consumer: ConsumerIdentity) throws(Failure) {
        try connection.run(
            Self.insertClient, .bits(consumer.client.high), .bits(consumer.client.low),
            .number(consumer.process.processID), .bits(consumer.process.startTime), .text(consumer.process.bootID))
    }

    /// A dead holder is no holder.
    func claim(_ session: OpenedSession, for consumer: ConsumerIdentity) throws(Failure) {
        let holder = try connection.first(Self.selectConsumer, .id(session.id)) { row throws(Failure) in
            ConsumerIdentity(
                client: ClientID(high: row.bits(), low: row.bits()), handle: HandleID(rawValue: row.bits()),
                process: row.process())
        }
        if let holder {
            if holder.client == consumer.client, holder.handle == consumer.handle { return }
            guard !holder.process.isAlive else {
                throw Failure(
                    .inUse,
                    "another handle, in process \(holder.process.processID), consumes the session "
                        + "\(session.configuration.identifier); close that one, or attach to produce or observe",
                    domain: .process, detail: Int64(holder.process.processID))
            }
        }
        try connection.run(
            Self.insertConsumer, .id(session.id), .bits(consumer.handle.rawValue), .bits(consumer.client.high),
            .bits(consumer.client.low))
    }

    private static let insertClient = Query(
        """
        INSERT INTO clients (high, low, process_id, start_time, boot_id) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING
        """)
    private static let selectClients = Query("SELECT high, low, process_id, start_time, boot_id FROM clients")
    private static let deleteClient = Query("DELETE FROM clients WHERE high = ? AND low = ?")
    private static let deleteDeparted = Query(
        """
        DELETE FROM clients
        WHERE high = ? AND low = ? AND process_id = ? AND start_time = ? AND boot_id = ?
        """)
    private static let deleteApplied = Query("DELETE FROM applied WHERE client_high = ? AND client_low = ?")
    private static let deleteOrphans = Query(
        "DELETE FROM applied WHERE NOT EXISTS (SELECT 1 FROM clients WHERE high = client_high AND low = client_low)")
    private static let selectConsumer = Query(
        """
        SELECT high, low, handle, process_id, start_time, boot_id
        FROM consumers JOIN clients ON clients.id = client_id WHERE session_id = ?
        """)
    private static let insertConsumer = Query(
        """
        INSERT OR REPLACE INTO consumers (session_id, handle, client_id)
        SELECT ?, ?, id FROM clients WHERE high = ? AND low = ?
        """)
    private static let selectClaim = Query(
        """
        SELECT session_id, identifier FROM consumers JOIN sessions ON sessions.id = session_id
        WHERE handle = ? AND client_id = (SELECT id FROM clients WHERE high = ? AND low = ?)
        """)
    private static let deleteConsumer = Query(
        """
        DELETE FROM consumers WHERE session_id = ? AND handle = ?
            AND client_id = (SELECT id FROM clients WHERE high = ? AND low = ?)
        """)
}

extension Row {
    mutating func process() -> ProcessIdentity {
        ProcessIdentity(processID: number(), startTime: bits(), bootID: text())
    }
}
