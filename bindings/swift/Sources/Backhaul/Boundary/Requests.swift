internal import CBackhaul

extension [Request] {
    /// The C structs of the requests. If a request is invalid, the error has its index.
    func values(_ arena: Arena) throws(BackhaulError) -> [bh_request] {
        var values: [bh_request] = []
        values.reserveCapacity(count)
        for (index, request) in enumerated() {
            do throws(BackhaulError) {
                values.append(try request.value(arena))
            } catch {
                throw BackhaulError(Int(error.status.rawValue), index: index, message: error.message)
            }
        }
        return values
    }
}

extension Request {
    /// The largest size of `userData`, in bytes.
    package static let largestUserData = Int(BH_USER_DATA_SIZE_MAXIMUM)
    /// The largest size of a body in memory, in bytes.
    package static let largestBody = Int(BH_BODY_SIZE_MAXIMUM)

    func value(_ arena: Arena) throws(BackhaulError) -> bh_request {
        var value = bh_request()
        value.struct_size = MemoryLayout<bh_request>.size
        value.url = try arena.string(url, "the URL")
        value.destination = try arena.optionalString(destination, "the destination")
        value.idempotency_key = try arena.optionalString(idempotencyKey, "the idempotency key")
        value.headers = try arena.headers(headers)
        value.header_count = headers.count
        value.user_data = arena.bytes(userData)
        value.user_data_size = userData?.count ?? 0
        value.if_exists = ifExists.rawValue
        value.priority = priority
        value.flags = flags
        value.mode = try positive(mode, "mode")
        value.method = try arena.optionalString(method, "the method")
        value.group = try arena.optionalString(group, "the group")
        value.checksum = try arena.optionalString(
            checksum.map { (checksum) throws(BackhaulError) in try checksum.checkedText() }, "the checksum")
        value.expected_size = try positive(expectedSize, "expectedSize")
        value.refresh = refresh?.rawValue ?? 0
        value.expires_ms = expiresMilliseconds ?? 0
        value.earliest_start_ms = earliestStartMilliseconds ?? 0
        value.latest_start_ms = latestStartMilliseconds ?? 0
        value.expected_bytes_received = expectedBytesReceived ?? 0
        value.expected_bytes_sent = expectedBytesSent ?? 0
        value.range_start = rangeStart ?? 0
        value.range_size = try positive(rangeSize, "rangeSize")
        if !after.isEmpty {
            var dependencies: [bh_dependency] = []
            for dependency in after { dependencies.append(try dependency.value(arena)) }
            value.after = arena.array(dependencies)
            value.after_count = dependencies.count
        }
        if let policy { value.policy = arena.array([try policy.value(arena)]) }
        switch body {
        case nil: break
        case .file(let path, let source):
            value.body_file = try arena.string(path, "the body's file")
            value.body_source = source.rawValue
        case .bytes(let bytes):
            value.body = arena.bytes(bytes)
            value.body_size = bytes.count
        case .form(let parts, let source):
            guard !parts.isEmpty else {
                throw BackhaulError(BH_INVALID_ARGUMENT, message: "body is a form without parts; give at least one")
            }
            var values: [bh_part] = []
            for part in parts { values.append(try part.value(arena)) }
            value.parts = arena.array(values)
            value.part_count = values.count
            value.body_source = source.rawValue
        }
        return value
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
