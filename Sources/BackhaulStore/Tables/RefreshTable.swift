internal import BackhaulModel

/// The tables with the replacements that hosts gave for expired headers and URLs. A row of `refreshed_headers` applies
/// to those tasks of a lane whose requests permit new headers (`RequestOptions.refresh`). A row of `refreshed_requests`
/// applies to one task.
struct RefreshTable {
    let connection: Connection

    /// Writes the headers of a lane. `through` is the newest task to which the headers apply.
    func writeHeaders(
        _ refreshed: RefreshedRequest, challenge: ChallengeID, of lane: LaneID, through: TaskID?
    ) throws(Failure) {
        try connection.run(
            Self.writeHeaders, .id(lane), .id(challenge), .optional(HeaderBlob.pack(refreshed.headers)),
            .optional(refreshed.expiresMilliseconds), .flag(refreshed.isDeclined), through.map { .id($0) } ?? .null)
    }

    func writeRequest(_ refreshed: RefreshedRequest, of task: TaskID) throws(Failure) {
        try connection.run(
            Self.writeRequest, .id(task), .id(refreshed.challenge), .optional(refreshed.url),
            .optional(HeaderBlob.pack(refreshed.headers)), .optional(refreshed.expiresMilliseconds),
            .flag(refreshed.isDeclined))
    }

    func headers(of lane: LaneID) throws(Failure) -> (refreshed: RefreshedRequest, through: TaskID)? {
        try connection.first(Self.selectHeaders, .id(lane), read: Self.headers)
    }

    func request(of task: TaskID) throws(Failure) -> RefreshedRequest? {
        try connection.first(Self.selectRequest, .id(task), read: Self.request)
    }

    /// Removes the rows of the tasks in the temporary table `acknowledged`.
    func removeOfAcknowledged() throws(Failure) { try connection.run(Self.removeOfAcknowledged) }

    /// An SQL expression for a query that reads rows of `challenges`. The value of the expression is the URL that the
    /// host gave for the challenge's task.
    static let urlOfChallenge =
        "(SELECT url FROM refreshed_requests WHERE refreshed_requests.task_id = challenges.task_id)"

    private static func headers(
        _ row: inout Row
    ) throws(Failure) -> (refreshed: RefreshedRequest, through: TaskID) {
        let through = row.taskID("through_task_id")
        return (try row.refreshed(url: "NULL"), through)
    }

    private static func request(_ row: inout Row) throws(Failure) -> RefreshedRequest {
        try row.refreshed(url: "url")
    }

    private static let selectHeaders = Query(headers, "FROM refreshed_headers WHERE lane_id = ?")
    private static let selectRequest = Query(request, "FROM refreshed_requests WHERE task_id = ?")
    private static let removeOfAcknowledged = Query("DELETE FROM refreshed_requests WHERE task_id IN acknowledged")
    private static let writeHeaders = Query(
        """
        INSERT OR REPLACE INTO refreshed_headers (lane_id, challenge_id, headers, expires_ms, is_declined,
            through_task_id)
        VALUES (?, ?, ?, ?, ?, ?)
        """)
    private static let writeRequest = Query(
        """
        INSERT OR REPLACE INTO refreshed_requests (task_id, challenge_id, url, headers, expires_ms, is_declined)
        VALUES (?, ?, ?, ?, ?, ?)
        """)
}

extension Row {
    fileprivate mutating func refreshed(url: String) throws(Failure) -> RefreshedRequest {
        let challenge = challengeID("challenge_id")
        let url = optionalText(url)
        let headers = optionalBlob("headers")
        return RefreshedRequest(
            challenge: challenge, url: url, headers: try HeaderBlob.unpack(headers),
            expiresMilliseconds: optionalInteger("expires_ms"), isDeclined: flag("is_declined"))
    }
}
