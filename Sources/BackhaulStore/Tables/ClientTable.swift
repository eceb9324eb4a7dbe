internal import BackhaulModel
internal import BackhaulPlatform

/// The table `clients` has the clients that opened sessions, with their processes. The table `consumers` has the
/// session that each session handle of a client consumes: it has the right to read the session's events.
struct ClientTable {
    let connection: Connection

    // MARK: Clients

    func insert(_ consumer: ConsumerIdentity) throws(Failure) {
        try connection.run(
            Self.insertClient, .bits(consumer.client.high), .bits(consumer.client.low),
            .number(consumer.process.processID), .bits(consumer.process.startTime), .text(consumer.process.bootID))
    }

    func all() throws(Failure) -> [(client: ClientID, process: ProcessIdentity)] {
        try connection.all(Self.selectClients, read: Self.client)
    }

    func withClaims() throws(Failure) -> [(client: ClientID, process: ProcessIdentity)] {
        try connection.all(Self.selectWithClaims, read: Self.client)
    }

    /// Removes the client and its claims (rights to read the events of sessions).
    func remove(_ client: ClientID) throws(Failure) {
        try connection.run(Self.removeClient, .bits(client.high), .bits(client.low))
    }

    /// Removes the client. Returns false when the process has no client with this id.
    func remove(_ client: ClientID, of process: ProcessIdentity) throws(Failure) -> Bool {
        try connection.run(
            Self.removeOfProcess, .bits(client.high), .bits(client.low), .number(process.processID),
            .bits(process.startTime), .text(process.bootID))
        return connection.changes == 1
    }

    // MARK: Consumers

    func consumer(of session: SessionID) throws(Failure) -> ConsumerIdentity? {
        try connection.first(Self.selectConsumer, .id(session), read: ConsumerIdentity.init(row:))
    }

    /// Returns the session that the handle consumes, or nil if it consumes none.
    func session(of handle: HandleID, _ client: ClientID) throws(Failure) -> SessionID? {
        try connection.first(
            Self.selectSession, .bits(handle.rawValue), .bits(client.high), .bits(client.low)
        ) { row throws(Failure) in row.sessionID() }
    }

    func setConsumer(of session: SessionID, _ consumer: ConsumerIdentity) throws(Failure) {
        try connection.run(
            Self.insertConsumer, .id(session), .bits(consumer.handle.rawValue), .bits(consumer.client.high),
            .bits(consumer.client.low))
    }

    func removeConsumer(of session: SessionID, _ handle: HandleID, _ client: ClientID) throws(Failure) {
        try connection.run(
            Self.removeConsumer, .id(session), .bits(handle.rawValue), .bits(client.high), .bits(client.low))
    }

    func removeClaims(of client: ClientID) throws(Failure) {
        try connection.run(Self.removeClaims, .bits(client.high), .bits(client.low))
    }

    private static func client(_ row: inout Row) -> (client: ClientID, process: ProcessIdentity) {
        (row.clientID(), row.process())
    }

    private static let insertClient = Query(
        """
        INSERT INTO clients (high, low, process_id, start_time, boot_id) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING
        """)
    private static let selectClients = Query(client, "FROM clients ORDER BY id")
    private static let selectWithClaims = Query(
        client, "FROM clients WHERE EXISTS (SELECT 1 FROM consumers WHERE client_id = clients.id)")
    private static let removeClient = Query("DELETE FROM clients WHERE high = ? AND low = ?")
    private static let removeOfProcess = Query(
        """
        DELETE FROM clients
        WHERE high = ? AND low = ? AND process_id = ? AND start_time = ? AND boot_id = ?
        """)
    private static let selectConsumer = Query(
        ConsumerIdentity.init(row:), "FROM consumers JOIN clients ON clients.id = client_id WHERE session_id = ?")
    private static let insertConsumer = Query(
        """
        INSERT OR REPLACE INTO consumers (session_id, handle, client_id)
        SELECT ?, ?, id FROM clients WHERE high = ? AND low = ?
        """)
    private static let selectSession = Query(
        """
        SELECT session_id FROM consumers
        WHERE handle = ? AND client_id = (SELECT id FROM clients WHERE high = ? AND low = ?)
        """)
    private static let removeConsumer = Query(
        """
        DELETE FROM consumers WHERE session_id = ? AND handle = ?
            AND client_id = (SELECT id FROM clients WHERE high = ? AND low = ?)
        """)
    private static let removeClaims = Query(
        "DELETE FROM consumers WHERE client_id = (SELECT id FROM clients WHERE high = ? AND low = ?)")
}

extension ConsumerIdentity {
    fileprivate init(row: inout Row) {
        self.init(
            client: row.clientID(), handle: HandleID(rawValue: row.bits("handle")), process: row.process())
    }
}

extension Row {
    fileprivate mutating func clientID() -> ClientID { ClientID(high: bits("high"), low: bits("low")) }

    mutating func process() -> ProcessIdentity {
        ProcessIdentity(processID: number("process_id"), startTime: bits("start_time"), bootID: text("boot_id"))
    }

    /// Reads a process. Returns nil when the process has ended, or when the columns are NULL. NULL is read as 0, and no
    /// process has the id 0.
    mutating func livingProcess() -> ProcessIdentity? {
        let process = process()
        return process.processID != 0 && process.isAlive ? process : nil
    }
}
