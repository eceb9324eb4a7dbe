/// Checks of the rarely used fields of a request. If two fields contradict each other, the message names both fields.
enum OptionsCheck {
    static func check(_ request: Request) throws(Failure) {
        let options = request.options
        var (checked, ranges) = (options, RangeCheck())
        try checked.visitFields(with: &ranges)
        try checked.policy.constraints.visitFields(with: &ranges)
        if let method = options.method { try check(method: method, options) }
        if let group = options.group { try check(group: group) }
        try PolicyCheck.check(options.policy)
        try checkStarts(options)
        try checkBody(request, options)
        try checkFile(request, options)
        if let range = options.range { try check(range, of: request, options) }
        try checkRefresh(options)
        if !options.dependencies.isEmpty { try DependencyCheck.check(request, options.dependencies) }
    }

    private static func check(method: String, _ options: RequestOptions) throws(Failure) {
        guard !method.isEmpty, method.utf8.count <= Limits.methodSize, method.utf8.allSatisfy(RequestCheck.isTokenByte)
        else { throw invalid("method is not a token of up to \(Limits.methodSize) letters (RFC 9110, section 9.1)") }
        // CONNECT requests a tunnel, and TRACE requests an echo of the request. These methods transfer no file.
        guard !["CONNECT", "TRACE"].contains(method) else { throw invalid("method \(method) makes no transfer") }
        if options.body != nil, ["GET", "HEAD"].contains(method) {
            throw invalid("method is \(method), but there is a body; give PUT, POST or PATCH")
        }
    }

    private static func check(
        _ range: ByteRange, of request: Request, _ options: RequestOptions
    ) throws(Failure) {
        let limit = UInt64(Int64.max)
        guard range.start < limit, range.size ?? 1 <= limit - range.start else {
            throw invalid(
                "the range of range_start and range_size ends behind the longest possible file, \(limit) bytes")
        }
        guard let body = options.body else {
            guard request.method == "GET" else {
                throw invalid(
                    "range_start or range_size is given, but the method is \(request.method); only GET has them")
            }
            guard !options.isOnlyIfChanged else {
                throw invalid(
                    "BH_REQUEST_IF_CHANGED is for a whole file, but there is a range_start or a range_size")
            }
            if let expected = options.expectedSize, let size = range.size, size != expected {
                throw invalid("expected_size is \(expected), but range_size is \(size); give one of them")
            }
            return
        }
        guard request.kind == .upload, case .file(let file, let source) = body else {
            throw invalid(
                "range_start and range_size select bytes of a downloaded file, or of a body_file; the request has "
                    + "another body")
        }
        guard source != .consume else {
            throw invalid(
                "body_source is BH_BODY_CONSUME, which removes the whole file, but only \(range.text) are sent")
        }
        // If the file is absent, an earlier task with the same key has checked it.
        guard !file.isAbsent, range.bytes(of: file.size) == nil else { return }
        throw invalid("body_file has \(file.size) bytes, so it does not have \(range.text)")
    }

    private static func check(group: String) throws(Failure) {
        guard (1...Limits.groupSize).contains(group.utf8.count),
            group.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw invalid("group has not 1 to \(Limits.groupSize) bytes without control characters") }
    }

    private static func checkBody(_ request: Request, _ options: RequestOptions) throws(Failure) {
        switch options.body {
        case nil: return
        case .file(let file, let source): try check(file, source, "body_file")
        case .bytes(let bytes):
            guard bytes.count <= Limits.bodySize else {
                throw invalid("body has \(bytes.count) bytes; at most \(Limits.bodySize) are allowed, or a body_file")
            }
        case .form(let parts, let source):
            guard (1...Limits.partCount).contains(parts.count) else {
                throw invalid("part_count is \(parts.count); give 1 to \(Limits.partCount)")
            }
            var size = 0
            for part in parts { try check(part, source, total: &size) }
            if request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
                throw invalid("the headers have Content-Type, but parts make their own; leave out one of them")
            }
        }
    }

    private static func check(_ part: FormPart, _ source: BodySource, total: inout Int) throws(Failure) {
        let texts = [(part.name, "name"), (part.fileName ?? "", "file_name"), (part.mediaType ?? "", "media_type")]
        for (text, name) in texts {
            guard text.utf8.count <= Limits.keySize, text.utf8.allSatisfy(\.isText) else {
                throw invalid("a part's \(name) has a control character or more than \(Limits.keySize) bytes")
            }
        }
        guard !part.name.isEmpty else { throw invalid("a part has no name") }
        switch part.content {
        case .file(let file): try check(file, source, "a part's file")
        case .value(let bytes):
            total += bytes.count
            guard total <= Limits.bodySize else {
                throw invalid("the values of parts have more than \(Limits.bodySize) bytes; put them into files")
            }
        }
    }

    private static func check(_ file: BodyFile, _ source: BodySource, _ name: String) throws(Failure) {
        try FieldCheck.path(file.path, name)
        guard file.size <= UInt64(Int64.max) else { throw invalid("\(name) is larger than a file can be") }
    }

    private static func checkFile(_ request: Request, _ options: RequestOptions) throws(Failure) {
        if request.kind == .upload {
            let given: [(Bool, String)] = [
                (options.checksum != nil, "checksum"), (options.expectedSize != nil, "expected_size"),
                (options.policy.maximumSize != nil, "maximum_size"), (request.ifExists != .fail, "if_exists"),
                (options.isOnlyIfChanged, "BH_REQUEST_IF_CHANGED"),
                (options.isNamedByServer, "BH_REQUEST_NAMED_BY_SERVER"),
            ]
            if let name = given.first(where: \.0)?.1 {
                throw invalid("\(name) is for downloads, but the request is an upload: a body without a destination")
            }
            return
        }
        if request.method == "HEAD", options.checksum != nil || (options.expectedSize ?? 0) > 0 {
            throw invalid("method is HEAD, whose file is empty, but there is a checksum or an expected_size")
        }
        if let maximum = options.policy.maximumSize, let expected = options.expectedSize, expected > maximum {
            throw invalid("expected_size is \(expected), more than maximum_size, \(maximum)")
        }
        if request.ifExists == .skip, options.checksum == nil, options.expectedSize == nil {
            throw invalid("if_exists is BH_IF_EXISTS_SKIP, which needs a checksum or an expected_size")
        }
        if request.ifExists == .skip, request.destination == nil {
            throw invalid("if_exists is BH_IF_EXISTS_SKIP, but there is no destination")
        }
        if options.isOnlyIfChanged {
            guard request.ifExists == .replace else {
                throw invalid("BH_REQUEST_IF_CHANGED needs if_exists to be BH_IF_EXISTS_REPLACE, and a destination")
            }
            if let field = request.headers.first(where: { conditional.contains($0.name.lowercased()) }) {
                throw invalid("the header \(field.name) and BH_REQUEST_IF_CHANGED are two conditions; give one of them")
            }
            guard request.method == "GET" else {
                throw invalid("BH_REQUEST_IF_CHANGED is for method GET, not for \(request.method)")
            }
        }
        if options.isNamedByServer {
            guard request.destination != nil else {
                throw invalid("BH_REQUEST_NAMED_BY_SERVER needs a destination, the directory for the file")
            }
            guard request.ifExists != .skip, !options.isOnlyIfChanged else {
                throw invalid(
                    "BH_REQUEST_NAMED_BY_SERVER cannot be joined with BH_IF_EXISTS_SKIP or BH_REQUEST_IF_CHANGED: the "
                        + "name is known only after the response")
            }
        }
    }

    private static let conditional = [
        "if-none-match", "if-modified-since", "if-match", "if-unmodified-since",
    ]

    private static func checkRefresh(_ options: RequestOptions) throws(Failure) {
        guard let expires = options.expiresMilliseconds else { return }
        guard options.refresh != .none else {
            throw invalid("expires_ms is given, but refresh is BH_REFRESH_NONE; say what expires")
        }
        try FieldCheck.time(expires, "expires_ms")
    }

    private static func checkStarts(_ options: RequestOptions) throws(Failure) {
        try FieldCheck.time(options.earliestStartMilliseconds, "earliest_start_ms")
        try FieldCheck.time(options.latestStartMilliseconds, "latest_start_ms")
        if let earliest = options.earliestStartMilliseconds, let latest = options.latestStartMilliseconds,
            latest < earliest
        {
            throw invalid("latest_start_ms is \(latest), before earliest_start_ms, \(earliest)")
        }
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
