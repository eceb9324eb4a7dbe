internal import BackhaulModel

/// Divides requests into chunks that fit in a *frame*: one message to the engine, which stores the requests as tasks.
struct RequestChunks {
    private var chunk: [Request] = []
    private var size = 0
    /// The largest number of requests in the present chunk.
    private var limit: Int

    /// - first: the largest number of requests in the first chunk. A small first chunk is soon in the store, and its
    /// tasks start while the other chunks are sent.
    init(first: Int = Limits.chunkCount) { limit = first }

    /// Adds a request. If the present chunk has no room for it, returns that chunk and starts a new one.
    mutating func append(_ request: Request) -> [Request]? {
        let estimatedSize = request.estimatedSize
        let isFull = chunk.count >= limit || (!chunk.isEmpty && size + estimatedSize > Limits.chunkSize)
        let full = isFull ? take() : nil
        chunk.append(request)
        size += estimatedSize
        return full
    }

    /// Returns the last chunk, and starts a new one.
    mutating func take() -> [Request] {
        defer {
            chunk = []
            size = 0
            limit = Limits.chunkCount
        }
        return chunk
    }
}

extension Request {
    /// The approximate size of the encoded request, in bytes.
    fileprivate var estimatedSize: Int {
        var estimatedSize = 64 + url.utf8.count + (destination?.path.utf8.count ?? 0) + (userData?.count ?? 0)
        for field in headers { estimatedSize += 8 + field.name.utf8.count + field.value.utf8.count }
        return hasOptions ? estimatedSize + options.estimatedSize : estimatedSize
    }
}

extension RequestOptions {
    fileprivate var estimatedSize: Int {
        let texts = [
            method, group, policy.retryStatuses?.text, policy.acceptedStatuses?.text,
        ]
        return texts.reduce(300) { $0 + ($1?.utf8.count ?? 0) } + (body?.estimatedSize ?? 0)
    }
}

extension RequestBody {
    fileprivate var estimatedSize: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(let file, _): 40 + file.path.utf8.count
        case .form(let parts, _): parts.reduce(0) { $0 + $1.estimatedSize }
        }
    }
}

extension FormPart {
    fileprivate var estimatedSize: Int {
        let texts = 20 + name.utf8.count + (fileName?.utf8.count ?? 0) + (mediaType?.utf8.count ?? 0)
        return switch content {
        case .value(let bytes): texts + bytes.count
        case .file(let file): texts + 40 + file.path.utf8.count
        }
    }
}
