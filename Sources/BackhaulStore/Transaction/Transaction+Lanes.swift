public import BackhaulModel

extension Transaction {
    /// Those with tasks that may run now.
    public func lanesWithWaitingTasks() throws(Failure) -> [Lane] {
        try connection.all(Self.selectWaiting) { row throws(Failure) in row.lane() }
    }

    /// Nil when it has no task any more.
    public func lane(_ id: LaneID) throws(Failure) -> Lane? {
        try connection.first(Self.select, .id(id)) { row throws(Failure) in row.lane() }
    }

    /// Whether there is a task that starts without a command, now or after a delay. One that waits for a credential
    /// does not: should its time be over, whoever is the engine next finds out.
    public func tasksWait() throws(Failure) -> Bool {
        try connection.first(Self.selectAnyWaiting) { row throws(Failure) in row.flag() } ?? false
    }

    func findOrMakeLane(_ session: SessionID, _ origin: Origin) throws(Failure) -> LaneID {
        let found = try connection.first(
            Self.find, .id(session), .text(origin.scheme), .text(origin.server), .number(origin.port)
        ) { row throws(Failure) in row.laneID() }
        if let found { return found }
        try connection.run(
            Self.insert, .id(session), .text(origin.scheme), .text(origin.server), .number(origin.port))
        return LaneID(rawValue: UInt64(clamping: connection.lastInsertedRow))
    }

    /// Lanes that have no task of any state left.
    func removeEmptyLanes(among lanes: Set<LaneID>) throws(Failure) {
        for lane in lanes { try connection.run(Self.removeEmpty, .id(lane)) }
    }

    private static let columns = "lanes.id, lanes.session_id, scheme, server, port"
    private static let select = Query("SELECT \(columns) FROM lanes WHERE id = ?")
    private static let selectWaiting = Query(
        """
        SELECT \(columns) FROM lanes
        WHERE EXISTS (SELECT 1 FROM tasks WHERE lane_id = lanes.id AND state = 1 AND due_boot_ms IS NULL)
        ORDER BY id
        """)
    // By session, because the index is.
    private static let selectAnyWaiting = Query(
        """
        SELECT EXISTS (SELECT 1 FROM sessions
            WHERE EXISTS (SELECT 1 FROM tasks WHERE session_id = sessions.id AND state = 1 AND due_reason <> 8))
        """)
    private static let find = Query(
        "SELECT id FROM lanes WHERE session_id = ? AND scheme = ? AND server = ? AND port = ?")
    private static let insert = Query("INSERT INTO lanes (session_id, scheme, server, port) VALUES (?, ?, ?, ?)")
    private static let removeEmpty = Query(
        "DELETE FROM lanes WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM tasks WHERE lane_id = ?1)")
}

extension Row {
    mutating func origin() -> Origin { Origin(scheme: text(), server: text(), port: number()) }

    fileprivate mutating func lane() -> Lane { Lane(id: laneID(), session: sessionID(), origin: origin()) }
}
