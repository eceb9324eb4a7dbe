internal import BackhaulModel

/// The tables with the resources that servers have made for uploads. `upload_resources` has those of live tasks, and
/// `abandoned_uploads` those that the servers are asked to remove.
struct UploadTable {
    let connection: Connection

    func resource(of task: TaskID) throws(Failure) -> UploadResource? {
        try connection.first(Self.select, .id(task), read: UploadResource.init(row:)) ?? nil
    }

    /// Does nothing when the task has succeeded.
    func write(_ resource: UploadResource, of task: TaskID) throws(Failure) {
        try connection.run(
            Self.write, .id(task), .number(resource.uploadProtocol.rawValue), .text(resource.url),
            .bits(resource.offset), .bits(resource.longestAppend))
    }

    func remove(of task: TaskID) throws(Failure) { try connection.run(Self.remove, .id(task)) }

    /// Removes the rows of the tasks in the temporary table `acknowledged`.
    func removeOfAcknowledged() throws(Failure) { try connection.run(Self.removeAcknowledged) }

    // MARK: Abandoned uploads

    /// Copies the task's row to the abandoned uploads. Returns whether there is one. `now`: Unix milliseconds.
    func abandon(of task: TaskID, now: Int64) throws(Failure) -> Bool {
        try connection.run(Self.abandon, .id(task), .integer(now))
        return connection.changes > 0
    }

    /// Does the same as `abandon(of:now:)` if the task has ended.
    func abandon(ofEnded task: TaskID, now: Int64) throws(Failure) -> Bool {
        try connection.run(Self.abandonEnded, .id(task), .integer(now))
        return connection.changes > 0
    }

    /// Moves the rows of the selected tasks to the abandoned uploads. Returns whether there are any.
    func abandonSelected(now: Int64) throws(Failure) -> Bool {
        try connection.run(Self.abandonSelected, .integer(now))
        let hasAbandoned = connection.changes > 0
        try connection.run(Self.removeSelected)
        return hasAbandoned
    }

    func abandoned(after url: String, limit: Int) throws(Failure) -> [AbandonedUpload] {
        try connection.all(Self.selectAbandoned, .text(url), .number(limit), read: AbandonedUpload.init(row:))
            .compactMap(\.self)
    }

    func forget(_ upload: AbandonedUpload) throws(Failure) { try connection.run(Self.forget, .text(upload.url)) }

    private static let select = Query(UploadResource.init(row:), "FROM upload_resources WHERE task_id = ?")
    private static let write = Query(
        """
        INSERT OR REPLACE INTO upload_resources (task_id, upload_protocol, url, upload_offset, longest_append)
        SELECT id, ?2, ?3, ?4, ?5 FROM tasks WHERE id = ?1 AND state <> \(TaskState.succeeded.sql)
        """)
    private static let remove = Query("DELETE FROM upload_resources WHERE task_id = ?")
    private static let removeSelected = Query("DELETE FROM upload_resources WHERE task_id IN selected")
    private static let removeAcknowledged = Query("DELETE FROM upload_resources WHERE task_id IN acknowledged")
    private static let abandon = Query("\(insertAbandoned("?2")) WHERE task_id = ?1")
    private static let abandonEnded = Query("\(insertAbandoned("?2")) WHERE task_id = ?1 AND ended_ms IS NOT NULL")
    private static let abandonSelected = Query("\(insertAbandoned("?1")) WHERE task_id IN selected")
    private static func insertAbandoned(_ now: String) -> String {
        """
        INSERT OR REPLACE INTO abandoned_uploads (url, session_id, upload_protocol, request_url, headers, taken_url,
            taken_headers, refreshed_url, refreshed_headers, s3_endpoint, s3_region, s3_profile, s3_credential_command,
            s3_path_style, refuses_private_addresses, abandoned_ms)
        SELECT resources.url, session_id, upload_protocol, requests.url, requests.headers,
            taken_values.url, taken_values.headers, refreshed_requests.url,
            ifnull(refreshed_requests.headers, refreshed_headers.headers), rules_s3_endpoint, rules_s3_region,
            rules_s3_profile, rules_s3_credential_command, rules_s3_path_style, rules_refuses_private_addresses, \(now)
        FROM upload_resources AS resources JOIN tasks ON tasks.id = task_id JOIN requests USING (task_id)
            LEFT JOIN request_options USING (task_id) LEFT JOIN taken_values USING (task_id)
            LEFT JOIN refreshed_requests USING (task_id)
            LEFT JOIN refreshed_headers ON refreshed_headers.lane_id = tasks.lane_id
                AND tasks.id <= through_task_id AND refresh = \(RefreshKind.headers.sql)
        """
    }
    /// A later version of the library may have recorded other protocols.
    private static let knownProtocols = UploadProtocol.allCases.map { "\($0.rawValue)" }.joined(separator: ", ")
    private static let selectAbandoned = Query(
        AbandonedUpload.init(row:),
        "FROM abandoned_uploads WHERE url > ? AND upload_protocol IN (\(knownProtocols)) ORDER BY url LIMIT ?")
    private static let forget = Query("DELETE FROM abandoned_uploads WHERE url = ?")
}

extension UploadResource {
    /// Nil if a later version of the library has recorded the upload by a protocol that this version does not know.
    fileprivate init?(row: inout Row) {
        let uploadProtocol = UploadProtocol(rawValue: row.number("upload_protocol"))
        let (url, offset) = (row.text("url"), row.bits("upload_offset"))
        let longestAppend = row.optionalBits("longest_append")
        guard let uploadProtocol else { return nil }
        self.init(uploadProtocol, url: url, offset: offset, longestAppend: longestAppend)
    }
}

extension AbandonedUpload {
    fileprivate init?(row: inout Row) throws(Failure) {
        let (session, uploadProtocol) = (
            row.sessionID("session_id"), UploadProtocol(rawValue: row.number("upload_protocol"))
        )
        let (url, requestURL) = (row.text("url"), row.text("request_url"))
        var request = Request(url: requestURL)
        request.headers = try HeaderBlob.unpack(row.optionalBlob("headers"))
        let takenURL = row.optionalText("taken_url")
        request.replace(url: takenURL, headers: try HeaderBlob.unpack(row.optionalBlob("taken_headers")))
        let refreshedURL = row.optionalText("refreshed_url")
        request.replace(url: refreshedURL, headers: try HeaderBlob.unpack(row.optionalBlob("refreshed_headers")))
        var s3 = S3Settings()
        (s3.endpoint, s3.region) = (row.optionalText("s3_endpoint"), row.optionalText("s3_region"))
        (s3.profile, s3.credentialCommand) = (
            row.optionalText("s3_profile"), row.optionalText("s3_credential_command")
        )
        s3.usesPathStyle = row.optionalInteger("s3_path_style").map { $0 != 0 }
        let refusesPrivateAddresses = row.optionalFlag("refuses_private_addresses")
        let abandoned = row.integer("abandoned_ms")
        guard let uploadProtocol else { return nil }
        self.init(
            session: session, uploadProtocol, url: url, requestURL: request.url, headers: request.headers,
            isCrossOrigin: request.isCrossOrigin, s3: s3, refusesPrivateAddresses: refusesPrivateAddresses,
            abandonedMilliseconds: abandoned)
    }
}
