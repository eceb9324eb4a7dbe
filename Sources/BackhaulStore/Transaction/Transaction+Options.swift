internal import BackhaulModel

/// What few requests have, in tables of its own.
extension Transaction {
    /// Whose requests: their tables have the same columns.
    enum RequestOwner { case tasks, activities }

    func insertOptions(_ options: RequestOptions, of owner: Int64, in table: RequestOwner = .tasks) throws(Failure) {
        let policy = options.policy
        let values: [Value] = [
            .integer(owner),
            .optional(options.method),
            .optional(options.group),
            .optional(options.checksum?.text),
            .bits(options.expectedSize),
            .number(options.refresh.rawValue),
            .optional(options.expiresMilliseconds),
            .flag(options.isOnlyIfChanged),
            .flag(options.isNamedByServer),
            .flag(options.ignoresDigests),
            .optional(options.earliestStartMilliseconds),
            .optional(options.latestStartMilliseconds),
            .bits(options.expectedBytesReceived),
            .bits(options.expectedBytesSent),
            .optional(policy.maximumAttempts),
            .optional(policy.firstRetryDelayMilliseconds),
            .optional(policy.longestRetryDelayMilliseconds),
            .optional(policy.retryJitterPercent),
            .optional(policy.retryErrors?.rawValue),
            .optional(policy.retriesUnsafeMethods.map { $0 ? 1 : 0 }),
            .optional(policy.retryStatuses?.text),
            .optional(policy.acceptedStatuses?.text),
            .optional(policy.requestTimeoutMilliseconds),
            .optional(policy.resourceTimeoutMilliseconds),
            .optional(policy.httpVersion?.rawValue),
            .optional(policy.redirects?.rawValue),
            .optional(policy.maximumRedirects),
            .bits(policy.maximumSize),
            .bits(policy.bytesPerSecond),
            .optional(options.bodySource?.rawValue),
            .bits(options.body?.size),
            .optional(options.bodyBytes),
        ]
        guard table == .tasks else { return try connection.run(Self.insertOfActivity, values) }
        try connection.run(Self.insertOptions, values)
        for (position, part) in options.bodyParts.enumerated() { try insert(part, of: owner, at: position) }
    }

    /// Nil when the task has none.
    func options(of task: TaskID) throws(Failure) -> RequestOptions? {
        let found = try connection.first(Self.selectOptions, .id(task)) { row throws(Failure) in row.options() }
        guard let found else { return nil }
        var options = found.options
        if found.constraints != .session { options.policy.constraints = try constraints(found.constraints).stated }
        guard let source = found.source else { return options }
        let parts = try connection.all(Self.selectParts, .id(task)) { row throws(Failure) in row.bodyPart() }
        options.body = RequestBody(source, found.bytes, parts)
        return options
    }

    /// Nil when its request has none.
    func options(ofActivity activity: ActivityID) throws(Failure) -> RequestOptions? {
        let found = try connection.first(Self.selectOfActivity, .number(activity.rawValue)) { row throws(Failure) in
            row.options()
        }
        guard let found else { return nil }
        var options = found.options
        if found.constraints != .session { options.policy.constraints = try constraints(found.constraints).stated }
        if let bytes = found.bytes { options.body = .bytes(bytes) }
        return options
    }

    private func insert(_ part: BodyPart, of task: Int64, at position: Int) throws(Failure) {
        try connection.run(
            Self.insertPart, .integer(task), .number(position), .optional(part.name), .optional(part.file?.path),
            .bits(part.file?.device), .bits(part.file?.inode), .bits(part.file?.size),
            .optional(part.file?.modifiedNanoseconds), .optional(part.value), .optional(part.fileName),
            .optional(part.mediaType), .optional(part.file?.storedName))
    }

    private static let columns = """
        method, "group", checksum, expected_size, refresh, expires_ms, if_changed, named_by_server, ignores_digests,
        earliest_start_ms, latest_start_ms, expected_bytes_received, expected_bytes_sent,
        maximum_attempts, first_retry_delay_ms, longest_retry_delay_ms, retry_jitter_percent, retry_errors,
        retries_unsafe_methods, retry_statuses, accepted_statuses, request_timeout_ms, resource_timeout_ms,
        http_version, redirects, maximum_redirects, maximum_size, bytes_per_second, body_source, body_size, body
        """
    private static let marks = Array(repeating: "?", count: 32).joined(separator: ", ")
    private static let insertOptions = Query("INSERT INTO request_options (task_id, \(columns)) VALUES (\(marks))")
    private static let insertOfActivity = Query(
        "INSERT INTO activity_options (activity_id, \(columns)) VALUES (\(marks))")
    private static let selectOfActivity = Query(
        """
        SELECT (SELECT constraints_id FROM activities WHERE activities.id = activity_id), \(columns)
        FROM activity_options WHERE activity_id = ?
        """)
    private static let selectOptions = Query(
        """
        SELECT (SELECT constraints_id FROM tasks WHERE tasks.id = task_id), \(columns) FROM request_options
        WHERE task_id = ?
        """)
    private static let insertPart = Query(
        """
        INSERT INTO body_parts (task_id, position, name, file, device, inode, size, modified_ns, value, file_name,
            media_type, stored)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    /// 0, for "not known", for what was enqueued in another boot: a file system may get another number at each.
    private static let device = """
        iif(task_id < (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'first_task_of_boot'), 0, device)
        """
    private static let selectParts = Query(
        """
        SELECT name, file, \(device), inode, size, modified_ns, value, file_name, media_type, stored FROM body_parts
        WHERE task_id = ? ORDER BY position
        """)
}

/// A row of `body_parts`: without a name it is the whole body.
private struct BodyPart {
    var name: String?
    var file: BodyFile?
    var value: [UInt8]?
    var fileName: String?
    var mediaType: String?
}

extension RequestOptions {
    fileprivate var bodySource: BodySource? {
        switch body {
        case nil: nil
        case .file(_, let source), .form(_, let source): source
        case .bytes: .reference
        }
    }

    fileprivate var bodyBytes: [UInt8]? {
        guard case .bytes(let bytes) = body else { return nil }
        return bytes
    }

    fileprivate var bodyParts: [BodyPart] {
        switch body {
        case nil, .bytes: return []
        case .file(let file, _): return [BodyPart(file: file)]
        case .form(let parts, _):
            return parts.map { part in
                var row = BodyPart(name: part.name, fileName: part.fileName, mediaType: part.mediaType)
                switch part.content {
                case .file(let file): row.file = file
                case .value(let bytes): row.value = bytes
                }
                return row
            }
        }
    }
}

extension RequestBody {
    fileprivate init(_ source: BodySource, _ bytes: [UInt8]?, _ rows: [BodyPart]) {
        if let bytes {
            self = .bytes(bytes)
        } else if rows.count == 1, rows[0].name == nil, let file = rows[0].file {
            self = .file(file, source)
        } else {
            self = .form(
                rows.map { row in
                    FormPart(
                        name: row.name ?? "", content: row.file.map { .file($0) } ?? .value(row.value ?? []),
                        fileName: row.fileName, mediaType: row.mediaType)
                }, source)
        }
    }
}

extension Row {
    fileprivate mutating func options() -> (
        options: RequestOptions, source: BodySource?, bytes: [UInt8]?, constraints: ConstraintsID
    ) {
        var options = RequestOptions()
        let constraints = constraintsID()
        options.method = optionalText()
        options.group = optionalText()
        options.checksum = optionalText().flatMap(Checksum.init)
        options.expectedSize = optionalBits()
        options.refresh = RefreshKind(rawValue: number()) ?? .none
        options.expiresMilliseconds = optionalInteger()
        options.isOnlyIfChanged = flag()
        options.isNamedByServer = flag()
        options.ignoresDigests = flag()
        options.earliestStartMilliseconds = optionalInteger()
        options.latestStartMilliseconds = optionalInteger()
        options.expectedBytesReceived = optionalBits()
        options.expectedBytesSent = optionalBits()
        options.policy.maximumAttempts = optionalNumber()
        options.policy.firstRetryDelayMilliseconds = optionalNumber()
        options.policy.longestRetryDelayMilliseconds = optionalNumber()
        options.policy.retryJitterPercent = optionalNumber()
        options.policy.retryErrors = optionalNumber().map(RetryErrors.init)
        options.policy.retriesUnsafeMethods = optionalInteger().map { $0 != 0 }
        options.policy.retryStatuses = optionalText().flatMap(StatusList.init)
        options.policy.acceptedStatuses = optionalText().flatMap(StatusList.init)
        options.policy.requestTimeoutMilliseconds = optionalNumber()
        options.policy.resourceTimeoutMilliseconds = optionalNumber()
        options.policy.httpVersion = optionalNumber().flatMap(HTTPVersion.init)
        options.policy.redirects = optionalNumber().flatMap(RedirectPolicy.init)
        options.policy.maximumRedirects = optionalNumber()
        options.policy.maximumSize = optionalBits()
        options.policy.bytesPerSecond = optionalBits()
        let source: BodySource? = optionalNumber().flatMap(BodySource.init)
        skip(1)
        return (options, source, optionalBlob(), constraints)
    }

    fileprivate mutating func bodyPart() -> BodyPart {
        var part = BodyPart(name: optionalText())
        let path = optionalText()
        let (device, inode, size) = (bits(), bits(), bits())
        let modified = integer()
        part.file = path.map {
            BodyFile(path: $0, device: device, inode: inode, size: size, modifiedNanoseconds: modified)
        }
        part.value = optionalBlob()
        part.fileName = optionalText()
        part.mediaType = optionalText()
        part.file?.storedName = optionalText()
        return part
    }
}
