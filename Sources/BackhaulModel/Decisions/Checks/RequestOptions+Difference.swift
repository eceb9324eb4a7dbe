extension RequestOptions {
    /// Compares the options of two requests for a download or upload. Returns the name of the first field that differs,
    /// as in include/backhaul.h; nil if no field differs. Start times and the time of expiry are not compared, because
    /// the program may have changed them since the request was stored (enqueued). Body files count as equal if their
    /// paths are equal, because the file may have been moved into the store since the enqueue.
    public func firstDifferingField(from other: RequestOptions) -> String? {
        if method != other.method { return "method" }
        if group != other.group { return "group" }
        if checksum != other.checksum { return "checksum" }
        if expectedSize != other.expectedSize { return "expected_size" }
        if refresh != other.refresh { return "refresh" }
        if isOnlyIfChanged != other.isOnlyIfChanged || isNamedByServer != other.isNamedByServer
            || ignoresDigests != other.ignoresDigests
        {
            return "flags"
        }
        if expectedBytesReceived != other.expectedBytesReceived { return "expected_bytes_received" }
        if expectedBytesSent != other.expectedBytesSent { return "expected_bytes_sent" }
        if range != other.range { return rangeStart ?? 0 != other.rangeStart ?? 0 ? "range_start" : "range_size" }
        if policy.immutableFields != other.policy.immutableFields { return "policy" }
        if dependencies != other.dependencies { return "after" }
        return bodyFieldThatDiffers(from: other.body)
    }

    private func bodyFieldThatDiffers(from other: RequestBody?) -> String? {
        switch (body, other) {
        case (nil, nil): nil
        case (.bytes(let ours), .bytes(let theirs)): ours == theirs ? nil : "body"
        case (.file(let ours, let source), .file(let theirs, let otherSource)):
            ours.path != theirs.path ? "body_file" : source == otherSource ? nil : "body_source"
        case (.form(let ours, let source), .form(let theirs, let otherSource)):
            !ours.elementsEqual(theirs, by: FormPart.areAlike) ? "parts" : source == otherSource ? nil : "body_source"
        default: "body"
        }
    }
}

extension FormPart {
    fileprivate static func areAlike(_ left: FormPart, _ right: FormPart) -> Bool {
        guard left.name == right.name, left.fileName == right.fileName, left.mediaType == right.mediaType else {
            return false
        }
        switch (left.content, right.content) {
        case (.file(let ours), .file(let theirs)): return ours.path == theirs.path
        case (.value(let ours), .value(let theirs)): return ours == theirs
        default: return false
        }
    }
}

extension TaskPolicy {
    /// The policy without the fields that the program or a user may have changed since the request was stored
    /// (enqueued).
    fileprivate var immutableFields: TaskPolicy {
        var policy = self
        policy.bytesPerSecond = nil
        policy.constraints = .none
        return policy
    }
}
