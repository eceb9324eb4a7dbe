internal import BackhaulModel

/// The table `requests` has the requests for tasks, as hosts gave them. The table `responses` has the summary of the
/// response with which a task ended.
struct RequestTable {
    let connection: Connection

    func insert(_ request: Request, of task: TaskID) throws(Failure) {
        try connection.run(
            Self.insert, .id(task), .text(request.url), .bits(request.destination?.directoryDevice),
            .bits(request.destination?.directoryInode), .optional(request.destination?.fileSystem),
            .number(request.ifExists.rawValue), .number(request.priority), .flag(request.startsSuspended),
            .number(request.mode.rawValue), .optional(HeaderBlob.pack(request.headers)), .optional(request.userData),
            .flag(request.hasOptions))
    }

    /// Records that the requests of the selected tasks have options.
    func setHasOptionsOfSelected() throws(Failure) { try connection.run(Self.markOptions) }

    func url(of task: TaskID) throws(Failure) -> String {
        try connection.first(Self.selectOwnURL, .id(task)) { row throws(Failure) in row.text() } ?? ""
    }

    func url(of task: TaskID, in session: SessionID) throws(Failure) -> String? {
        try connection.first(Self.selectURL, .id(task), .id(session)) { row throws(Failure) in row.text() }
    }

    // MARK: Responses

    /// Writes the summary of a response and the file's checksum to a row, which replaces an earlier row. Does nothing
    /// if all values are empty.
    func write(_ response: ResponseSummary, _ checksum: Checksum?, of task: TaskID) throws(Failure) {
        guard
            response.finalURL != nil || response.mediaType != nil || !response.headers.isEmpty
                || response.errorBody != nil
                || response.responseBody != nil || response.isBodyIncomplete || checksum != nil
        else { return }
        try connection.run(
            Self.writeResponse, .id(task), .optional(response.finalURL), .optional(response.mediaType),
            .optional(HeaderBlob.pack(response.headers)), .optional(response.errorBody),
            .optional(response.responseBody), .flag(response.isBodyIncomplete),
            .optional(checksum?.text))
    }

    func response(of task: TaskID) throws(Failure) -> (finalURL: String?, headers: [HeaderField])? {
        try connection.first(Self.selectResponse, .id(task), read: Self.response)
    }

    /// Returns what is stored of the response of an ended task.
    func wholeResponse(of task: TaskID) throws(Failure) -> ResponseSummary {
        try connection.first(Self.selectWholeResponse, .id(task), read: Self.wholeResponse) ?? ResponseSummary()
    }

    /// Removes the rows of the tasks in the temporary table `acknowledged`.
    func removeOfAcknowledged() throws(Failure) {
        try connection.run(Self.removeRequests)
        try connection.run(Self.removeResponses)
    }

    // MARK: -

    /// An SQL expression for queries of the table `challenges`, whose rows are demands to hosts, for example for a
    /// credential. The value of the expression is the URL in the request for the challenge's task.
    static let urlOfChallenge = "(SELECT url FROM requests WHERE requests.task_id = challenges.task_id)"

    /// The SQL value of the response's final URL. The column is empty if the final URL is the URL of the request.
    static let finalURL = "iif(responses.final_url = '', requests.url, responses.final_url)"

    private static func response(_ row: inout Row) throws(Failure) -> (finalURL: String?, headers: [HeaderField]) {
        let url = row.optionalText(finalURL)
        return (url, try HeaderBlob.unpack(row.optionalBlob("responses.headers")))
    }

    private static func wholeResponse(_ row: inout Row) throws(Failure) -> ResponseSummary {
        var response = ResponseSummary()
        response.finalURL = row.optionalText(finalURL)
        let headers = row.optionalBlob("responses.headers")
        response.responseBody = row.optionalBlob("response_body")
        response.isBodyIncomplete = row.flag("is_body_incomplete")
        response.headers = try HeaderBlob.unpack(headers)
        return response
    }

    private static let insert = Query(
        """
        INSERT INTO requests (task_id, url, directory_device, directory_inode, file_system, if_exists, priority,
            starts_suspended, mode, headers, user_data, has_options)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let markOptions = Query("UPDATE requests SET has_options = 1 WHERE task_id IN selected")
    private static let selectURL = Query(
        "SELECT url FROM requests JOIN tasks ON tasks.id = task_id WHERE task_id = ? AND session_id = ?")
    private static let writeResponse = Query(
        """
        INSERT OR REPLACE INTO responses (task_id, final_url, media_type, headers, error_body, response_body,
            is_body_incomplete, checksum)
        VALUES (?1, iif(?2 = (SELECT url FROM requests WHERE task_id = ?1), '', ?2), ?3, ?4, ?5, ?6, ?7, ?8)
        """)
    private static let removeRequests = Query("DELETE FROM requests WHERE task_id IN acknowledged")
    private static let removeResponses = Query("DELETE FROM responses WHERE task_id IN acknowledged")
    private static let selectOwnURL = Query("SELECT url FROM requests WHERE task_id = ?")
    private static let selectWholeResponse = Query(
        wholeResponse,
        "FROM responses JOIN requests ON requests.task_id = responses.task_id WHERE responses.task_id = ?")
    private static let selectResponse = Query(
        response, "FROM responses JOIN requests ON requests.task_id = responses.task_id WHERE responses.task_id = ?")
}

extension Row {
    /// Reads a request without its options. The priority is not set, because the current priority is a column of
    /// `tasks`.
    mutating func request() throws(Failure) -> (request: Request, hasOptions: Bool) {
        var request = Request(url: "")
        request.idempotencyKey = optionalText("idempotency_key")
        request.destination = destination(device: Self.directoryDevice)
        request.url = text("url")
        request.ifExists = ExistsPolicy(rawValue: number("if_exists")) ?? .fail
        request.startsSuspended = flag("starts_suspended")
        request.mode = FileMode(rawValue: number("mode"))
        let headers = optionalBlob("requests.headers")
        request.userData = optionalBlob("user_data")
        let hasOptions = flag("has_options")
        request.headers = try HeaderBlob.unpack(headers)
        return (request, hasOptions)
    }

    /// Reads a destination. `device` is the column with the device of the destination's directory.
    mutating func destination(device: String) -> Destination? {
        let path = optionalText("destination")
        let (device, inode, fileSystem) = (bits(device), bits("directory_inode"), optionalText("file_system"))
        guard let path else { return nil }
        var destination = Destination(path: path, directoryDevice: device, directoryInode: inode)
        destination.fileSystem = fileSystem
        return destination
    }

    /// The SQL value of the directory's device. If the task was enqueued before this boot, the value is 0, which means
    /// unknown.
    private static let directoryDevice = "iif(tasks.id < \(MetaTable.firstTaskOfBoot), 0, directory_device)"
}
