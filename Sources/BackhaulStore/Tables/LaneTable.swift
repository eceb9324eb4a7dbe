internal import BackhaulModel

/// The table `lanes`.
struct LaneTable {
    let connection: Connection

    func find(_ session: SessionID, _ origin: Origin) throws(Failure) -> LaneID? {
        try connection.first(
            Self.find, .id(session), .text(origin.scheme), .text(origin.server), .number(origin.port)
        ) { row throws(Failure) in row.laneID() }
    }

    func insert(_ session: SessionID, _ origin: Origin) throws(Failure) -> LaneID {
        try connection.run(
            Self.insert, .id(session), .text(origin.scheme), .text(origin.server), .number(origin.port))
        return LaneID(rawValue: UInt64(clamping: connection.lastInsertedRow))
    }

    func findOrInsert(_ session: SessionID, _ origin: Origin) throws(Failure) -> LaneID {
        if let found = try find(session, origin) { return found }
        return try insert(session, origin)
    }

    func lane(_ id: LaneID) throws(Failure) -> Lane? {
        try connection.first(Self.select, .id(id), read: Lane.init(row:))
    }

    /// Returns the lanes with ready tasks (waiting tasks without a delay), sorted by id.
    func ready() throws(Failure) -> [Lane] { try connection.all(Self.selectReady, read: Lane.init(row:)) }

    func removeEmpty(among lanes: Set<LaneID>) throws(Failure) {
        for lane in lanes { try removeIfEmpty(lane) }
    }

    /// Removes the lane if it has no live task. Ended tasks need no lane.
    func removeIfEmpty(_ lane: LaneID) throws(Failure) { try connection.run(Self.removeIfEmpty, .id(lane)) }

    private static let select = Query(Lane.init(row:), "FROM lanes WHERE id = ?")
    private static let selectReady = Query(
        Lane.init(row:), "FROM lanes WHERE \(TaskTable.isReadyInLane) ORDER BY id")
    private static let find = Query(
        "SELECT id FROM lanes WHERE session_id = ? AND scheme = ? AND server = ? AND port = ?")
    private static let insert = Query("INSERT INTO lanes (session_id, scheme, server, port) VALUES (?, ?, ?, ?)")
    private static let removeIfEmpty = Query("DELETE FROM lanes WHERE id = ?1 AND NOT \(TaskTable.isLiveInLane)")
}

extension Lane {
    fileprivate init(row: inout Row) {
        self.init(id: row.laneID("lanes.id"), session: row.sessionID("lanes.session_id"), origin: Origin(row: &row))
    }
}

extension Origin {
    init(row: inout Row) {
        self.init(scheme: row.text("scheme"), server: row.text("server"), port: row.number("port"))
    }
}
