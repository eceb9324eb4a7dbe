/// What a task does if a task that it waits for does not succeed: `BH_DEPENDENCY_FAILURE_…`.
public enum DependencyFailure: Int32, Sendable, CaseIterable {
    case fail = 1
    case cancel = 2
    case ignore = 3
}

/// A task that another task of the session waits for, and what that task takes from its response: `bh_dependency`.
public struct Dependency: Equatable, Sendable {
    /// How the host has named the task.
    public enum Name: Equatable, Sendable {
        case id(TaskID)
        case key(String)
    }
    public var task: Name
    public var ifFails = DependencyFailure.fail
    /// Where in the response the URL, the values of header fields, and the body of the waiting request are: texts of
    /// the form that `ResponseValue` reads.
    public var url: String?
    public var headers: [HeaderField] = []
    public var body: String?

    public init(_ task: Name) { self.task = task }

    /// All places in the response from which the waiting request takes a value.
    public var places: [String] { [url, body].compactMap(\.self) + headers.map(\.value) }

    /// Whether the body of the response is needed. The engine keeps only the bodies of responses to uploads.
    public var needsBody: Bool {
        places.contains { place in
            switch ResponseValue(place) {
            case .body, .member: true
            case .field, .finalURL, nil: false
            }
        }
    }
}

/// Where in a response a value is.
public enum ResponseValue: Equatable, Sendable {
    /// "header:NAME": the value of a header field.
    case field(String)
    /// "url": the URL that sent the response, after redirects.
    case finalURL
    /// "body": the body.
    case body
    /// "json:POINTER": a member of the body, which is a JSON document (RFC 6901). The tokens of the pointer.
    case member([String])

    /// Returns nil if the text has another form.
    public init?(_ text: String) {
        if text == "url" {
            self = .finalURL
        } else if text == "body" {
            self = .body
        } else if text.hasPrefix("header:") {
            let name = text.dropFirst("header:".count)
            guard !name.isEmpty, name.utf8.allSatisfy(RequestCheck.isTokenByte) else { return nil }
            self = .field(String(name))
        } else if text.hasPrefix("json:/") {
            var tokens: [String] = []
            for token in text.dropFirst("json:/".count).split(separator: "/", omittingEmptySubsequences: false) {
                guard let token = Self.unescaped(token) else { return nil }
                tokens.append(token)
            }
            self = .member(tokens)
        } else {
            return nil
        }
    }

    /// Replaces ~1 by a slash and ~0 by a tilde (RFC 6901, section 3).
    private static func unescaped(_ token: Substring) -> String? {
        var result = ""
        var rest = token[...]
        while let first = rest.popFirst() {
            guard first == "~" else {
                result.append(first)
                continue
            }
            switch rest.popFirst() {
            case "0": result.append("~")
            case "1": result.append("/")
            default: return nil
            }
        }
        return result
    }
}

/// What a request has taken from the responses of the tasks that it waited for.
public struct TakenValues: Equatable, Sendable {
    /// An absolute URL.
    public var url: String?
    public var headers: [HeaderField] = []
    public var body: [UInt8]?

    public init() {}

    /// Returns the request with these values.
    public func applied(to request: Request) -> Request {
        var request = request
        request.replace(url: url, headers: headers)
        if let body { request.options.body = .bytes(body) }
        return request
    }
}
