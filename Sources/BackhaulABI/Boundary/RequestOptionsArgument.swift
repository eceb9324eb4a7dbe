internal import BackhaulDisk
internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host guarantees that its requests, and all data that they point to, can be read until the call returns.
// All of it is copied here.

/// Reads the fields of `bh_request` that few requests set.
enum RequestOptionsArgument {
    private static let flags =
        UInt32(BH_REQUEST_STARTS_SUSPENDED | BH_REQUEST_IF_CHANGED)
        | UInt32(BH_REQUEST_NAMED_BY_SERVER | BH_REQUEST_IGNORES_DIGESTS)

    static func checkFlags(_ given: bh_request) throws(Failure) {
        let unknown = given.flags & ~flags
        guard unknown == 0 else {
            throw Failure(.invalidArgument, "flags has the unknown bits 0x\(String(unknown, radix: 16))")
        }
    }

    /// Whether the request sets a field that `read` reads.
    static func isNeeded(_ given: bh_request) -> Bool {
        given.method != nil || given.group != nil || given.checksum != nil || given.expected_size != 0
            || given.body_file != nil || given.body != nil || given.body_size != 0 || given.parts != nil
            || given.part_count != 0 || given.body_source != 0 || given.refresh != 0 || given.expires_ms != 0
            || given.policy != nil || given.earliest_start_ms != 0 || given.latest_start_ms != 0
            || given.expected_bytes_received != 0 || given.expected_bytes_sent != 0
            || given.range_start != 0 || given.range_size != 0 || given.after != nil || given.after_count != 0
            || given.flags & ~UInt32(BH_REQUEST_STARTS_SUSPENDED) != 0
    }

    static func read(_ given: bh_request) throws(Failure) -> RequestOptions {
        var options = RequestOptions()
        options.method = try TextArgument.optional(given.method, "method", limit: Limits.methodSize)
        options.group = try TextArgument.optional(given.group, "group", limit: Limits.groupSize)
        if let text = try TextArgument.optional(given.checksum, "checksum", limit: 200) {
            guard let checksum = Checksum(text) else {
                throw Failure(
                    .invalidArgument,
                    "checksum is neither \"sha-256:\" and 64 nor \"sha-512:\" and 128 hexadecimal digits")
            }
            options.checksum = checksum
        }
        options.expectedSize = PolicyArgument.unlessZero(given.expected_size)
        options.body = try body(given)
        options.refresh = try NumberArgument.value(given.refresh, "refresh", of: "one of BH_REFRESH_…")
        options.expiresMilliseconds = PolicyArgument.unlessZero(given.expires_ms)
        options.isOnlyIfChanged = given.flags & UInt32(BH_REQUEST_IF_CHANGED) != 0
        options.isNamedByServer = given.flags & UInt32(BH_REQUEST_NAMED_BY_SERVER) != 0
        options.ignoresDigests = given.flags & UInt32(BH_REQUEST_IGNORES_DIGESTS) != 0
        options.earliestStartMilliseconds = PolicyArgument.unlessZero(given.earliest_start_ms)
        options.latestStartMilliseconds = PolicyArgument.unlessZero(given.latest_start_ms)
        options.expectedBytesReceived = PolicyArgument.unlessZero(given.expected_bytes_received)
        options.expectedBytesSent = PolicyArgument.unlessZero(given.expected_bytes_sent)
        options.rangeStart = PolicyArgument.unlessZero(given.range_start)
        options.rangeSize = PolicyArgument.unlessZero(given.range_size)
        options.dependencies = try DependencyArgument.read(given)
        // The body that is taken later makes the request an upload, or gives a download its default method.
        if options.body == nil, options.dependencies.contains(where: { $0.body != nil }) { options.body = .bytes([]) }
        options.policy = try PolicyArgument.read(given.policy)
        return options
    }

    private static func body(_ given: bh_request) throws(Failure) -> RequestBody? {
        let bytes = try self.bytes(given.body, given.body_size, "body")
        let parts = try StructArgument.array(
            given.parts, "parts", count: given.part_count, "part_count", limit: Limits.partCount, empty: bh_part(),
            minimumSize: StructArgument.end(of: \bh_part.media_type))
        let source: BodySource = try NumberArgument.value(given.body_source, "body_source", of: "one of BH_BODY_…")
        let names = [
            given.body_file == nil ? nil : "body_file", bytes == nil ? nil : "body", parts.isEmpty ? nil : "parts",
        ].compactMap(\.self)
        guard names.count <= 1 else {
            throw Failure(.invalidArgument, "both \(names[0]) and \(names[1]) are given; a request has one body")
        }
        if let path = try TextArgument.optional(given.body_file, "body_file", limit: Limits.pathSize) {
            return .file(try BodyCheck.check(path: path, orAbsent: given.idempotency_key != nil), source)
        }
        if let bytes { return .bytes(bytes) }
        guard !parts.isEmpty else {
            guard source == .reference else {
                throw Failure(
                    .invalidArgument, "body_source is given, but there is no body_file and there are no parts")
            }
            return nil
        }
        var copies: [FormPart] = []
        for part in parts { copies.append(try self.part(part, orAbsent: given.idempotency_key != nil)) }
        return .form(copies, source)
    }

    private static func part(_ given: bh_part, orAbsent: Bool) throws(Failure) -> FormPart {
        let name = try TextArgument.required(given.name, "a part's name", limit: Limits.keySize)
        let fileName = try TextArgument.optional(given.file_name, "a part's file_name", limit: Limits.keySize)
        let mediaType = try TextArgument.optional(given.media_type, "a part's media_type", limit: Limits.keySize)
        let value = try bytes(given.value, given.value_size, "a part's value")
        guard let path = try TextArgument.optional(given.file, "a part's file", limit: Limits.pathSize) else {
            return FormPart(name: name, content: .value(value ?? []), fileName: fileName, mediaType: mediaType)
        }
        guard value == nil else {
            throw Failure(.invalidArgument, "the part \(name) has both file and value; give one of them")
        }
        let last = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) }
        return FormPart(
            name: name, content: .file(try BodyCheck.check(path: path, orAbsent: orAbsent)),
            fileName: fileName ?? last, mediaType: mediaType ?? "application/octet-stream")
    }

    private static func bytes(_ start: UnsafeRawPointer?, _ size: Int, _ name: String) throws(Failure) -> [UInt8]? {
        let size = try NumberArgument.count(size, "\(name)_size", in: 0...Limits.bodySize)
        guard let start else {
            guard size == 0 else {
                throw Failure(.invalidArgument, "\(name) is NULL, but \(name)_size is \(size)")
            }
            return nil
        }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: size))
    }
}
