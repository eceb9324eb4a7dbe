internal import CBackhaul

/// A task that a request waits for, and what the request takes from the response to that task.
public struct Dependency: Hashable, Sendable {
    /// The name of the task that the request waits for.
    public enum Task: Hashable, Sendable {
        /// The id of a task of the session.
        case id(TaskID)
        /// The idempotency key of a task of the session, or of a request before this one in the same call.
        case key(String)
    }

    /// What the waiting task does if the other task fails or is cancelled.
    public enum Failure: Int32, Hashable, Sendable {
        /// It fails with `.dependencyFailed`.
        case fail = 1
        /// It is cancelled.
        case cancel = 2
        /// It runs. The request takes nothing from the response.
        case ignore = 3
    }

    /// A place in a response.
    public enum Place: Hashable, Sendable {
        /// The URL that sent the response, after redirects.
        case url
        /// The body. Only responses to uploads have one, up to 65,536 bytes.
        case body
        /// The value of the header field with this name.
        case header(String)
        /// A text or number in the body, which is a JSON document. The pointer (RFC 6901) begins with a slash.
        case json(String)

        var text: String {
            switch self {
            case .url: "url"
            case .body: "body"
            case .header(let name): "header:" + name
            case .json(let pointer): "json:" + pointer
            }
        }
    }

    /// The task that the request waits for.
    public var task: Task
    /// What happens if that task fails or is cancelled.
    public var ifFails: Failure
    /// Where the request's URL is. The URL may be relative to the URL of the response. If its origin is not that of
    /// `Request.url`, the headers of the request and of the session are not sent.
    public var url: Place?
    /// Where the request's body is.
    public var body: Place?
    /// Where the values of header fields are, by the names of the fields.
    public var headers: [String: Place]

    /// Makes a dependency.
    public init(
        _ task: Task, ifFails: Failure = .fail, url: Place? = nil, body: Place? = nil, headers: [String: Place] = [:]
    ) {
        self.task = task
        self.ifFails = ifFails
        self.url = url
        self.body = body
        self.headers = headers
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_dependency {
        var value = bh_dependency()
        value.struct_size = MemoryLayout<bh_dependency>.size
        switch task {
        case .id(let id): value.task_id = id.rawValue
        case .key(let key): value.idempotency_key = try arena.string(key, "the idempotency key of a dependency")
        }
        value.url = try arena.optionalString(url?.text, "the place of the URL")
        value.body = try arena.optionalString(body?.text, "the place of the body")
        let fields = headers.sorted { $0.key < $1.key }.map { Header(name: $0.key, value: $0.value.text) }
        value.headers = try arena.headers(fields)
        value.header_count = fields.count
        value.if_fails = ifFails.rawValue
        return value
    }
}
