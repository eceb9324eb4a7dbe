import CBackhaul

/// The body of a request.
enum Body {
    case file(String)
    case bytes([UInt8])
    case form([Part])
}

/// One part of a form.
struct Part {
    enum Content {
        case file(String)
        case value([UInt8])
    }
    var name: String
    var content: Content
    var fileName: String?
    var mediaType: String?

    func part(_ arena: CStringArena) -> bh_part {
        var part = bh_part()
        part.struct_size = MemoryLayout<bh_part>.size
        part.name = arena.string(name)
        switch content {
        case .file(let path): part.file = arena.string(path)
        case .value(let bytes):
            part.value = arena.bytes(bytes)
            part.value_size = bytes.count
        }
        part.file_name = arena.optionalString(fileName)
        part.media_type = arena.optionalString(mediaType)
        return part
    }
}

/// A download or an upload to enqueue.
struct Transfer {
    var url: String
    /// The path of the file. Nil for an upload.
    var destination: String?
    var method: String?
    var headers: [(name: String, value: String)] = []
    var body: Body?
    var bodySource: Int32 = 0
    var ifExists = BH_IF_EXISTS_FAIL
    var priority: Int32 = 0
    var startsSuspended = false
    var group: String?
    var checksum: String?
    var expectedSize: UInt64 = 0
    var isOnlyIfChanged = false
    /// Whether the server names the file. If so, the destination is a directory.
    var isNamedByServer = false
    var ignoresDigests = false
    var refresh: Int32 = 0
    var expires: Int64?
    var policy: PolicyOptions?
    var start: StartOptions?
    /// The number of an ended transfer to the same file. The present transfer replaces or repeats the ended one. The
    /// number becomes part of the key.
    var former: UInt64?
    /// Whether an activity (work that repeats) enqueues this transfer repeatedly. Such a transfer has no key, because
    /// each enqueue makes a new task.
    var isRepeated = false

    var replaces: Bool { ifExists == BH_IF_EXISTS_REPLACE }

    /// The idempotency key: if a later request has the same key, the engine (the process that runs the transfers)
    /// returns the same task. The key is made from the destination, so that a repeated command finds the same task. Nil
    /// if the path is too long for a key. Nil for an upload, because the user may want to send the same upload again.
    /// Nil for a transfer of an activity.
    var key: String? {
        guard let destination, !isRepeated else { return nil }
        let key = isNamedByServer ? "into:" + destination + ":" + url : "file:" + destination
        let whole = (former.map { "after:\($0):" } ?? "") + key
        return whole.utf8.count <= 255 ? whole : nil
    }

    /// Splits a key into the key of the first transfer to the same file, and the number that was in `former`.
    static func parts(ofKey key: String) -> (first: String, former: UInt64?) {
        let parts = key.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "after", let former = UInt64(parts[1]) else { return (key, nil) }
        return (String(parts[2]), former)
    }

    func request(_ arena: CStringArena) -> bh_request {
        var request = bh_request()
        request.struct_size = MemoryLayout<bh_request>.size
        request.url = arena.string(url)
        request.destination = arena.optionalString(destination)
        request.idempotency_key = arena.optionalString(key)
        request.headers = arena.headers(headers)
        request.header_count = headers.count
        request.if_exists = Int32(ifExists)
        request.priority = priority
        request.flags = flags
        request.method = arena.optionalString(method)
        request.group = arena.optionalString(group)
        request.checksum = arena.optionalString(checksum)
        request.expected_size = expectedSize
        request.body_source = bodySource
        request.refresh = refresh
        request.expires_ms = expires ?? 0
        start?.change(&request)
        request.policy = arena.array(policy.map { [$0.policy(arena)] } ?? [])
        switch body {
        case nil: break
        case .file(let path): request.body_file = arena.string(path)
        case .bytes(let bytes):
            request.body = arena.bytes(bytes)
            request.body_size = bytes.count
        case .form(let parts):
            request.parts = arena.array(parts.map { $0.part(arena) })
            request.part_count = parts.count
        }
        return request
    }

    private var flags: UInt32 {
        var flags = 0
        if startsSuspended { flags |= BH_REQUEST_STARTS_SUSPENDED }
        if isOnlyIfChanged { flags |= BH_REQUEST_IF_CHANGED }
        if isNamedByServer { flags |= BH_REQUEST_NAMED_BY_SERVER }
        if ignoresDigests { flags |= BH_REQUEST_IGNORES_DIGESTS }
        return UInt32(flags)
    }
}
