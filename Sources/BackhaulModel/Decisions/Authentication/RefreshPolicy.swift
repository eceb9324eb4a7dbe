/// Decides when a request needs a *refresh*: the headers or the URL have expired, and the host must give new headers or
/// a new URL.
public enum RefreshPolicy {
    /// The protection space of a refresh: the tasks that need the same new headers or the same new URL from the host.
    /// For headers, all tasks of one origin share one space. For a URL, each task has its own space.
    public static func space(_ kind: RefreshKind, of task: TaskID, origin: String) -> ProtectionSpace {
        ProtectionSpace(kind: .refresh, origin: origin, realm: nil, task: kind == .url ? task : nil)
    }

    /// Whether the headers or the URL of the request have expired. `now`: Unix milliseconds.
    public static func isDue(_ options: RequestOptions, now: Int64) -> Bool {
        options.refresh != .none && (options.expiresMilliseconds.map { $0 <= now } ?? false)
    }

    /// Whether the head of the response means that the headers or the URL have expired. Expiring headers are sent only
    /// to the origin of the URL, so a response from another origin does not show that they have expired. For an expired
    /// URL, servers send 401, 403, 404 or 410, or redirect a download to a login page. A response that the request
    /// accepts is never such a response.
    public static func isRequested(
        by head: ResponseHead, _ request: Request, _ policy: TransferPolicy, origin: String
    ) -> Bool {
        if request.options.refresh == .none || policy.accepts(head) { return false }
        return switch request.options.refresh {
        case .none: false
        case .headers: (head.status == 401 || head.status == 403) && head.origin == origin
        case .url:
            [401, 403, 404, 410].contains(head.status)
                || request.kind == .download && PageSuspicion.isLogin(head, of: request.url)
        }
    }

    /// Whether the body of the response may mean that the URL has expired. Some stores send 400.
    public static func mayBeRequested(byBodyOf head: ResponseHead, _ options: RequestOptions) -> Bool {
        options.refresh == .url && head.status == 400
    }

    /// Whether the body of a 400 response means that the URL has expired.
    public static func isRequested(byBody body: [UInt8]) -> Bool {
        let text = String(decoding: body, as: UTF8.self)
        return expiryCodes.contains { text.has($0) }
    }

    /// What stores write into the body of a 400 response to an expired URL: codes of S3 and its like (ExpiredToken,
    /// TokenRefreshRequired, RequestExpired), of Azure (AuthenticationFailed) and Backblaze, and texts.
    private static let expiryCodes = [
        "ExpiredToken", "TokenRefreshRequired", "RequestExpired", "AuthenticationFailed", "expired_auth_token",
        "equest has expired", "oken has expired", "ignature has expired", "ink has expired", "URL has expired",
        "URL signature expired",
    ]
}

extension TransferPolicy {
    /// Whether the policy names the response: its status, and for a status of success also its media type.
    fileprivate func accepts(_ head: ResponseHead) -> Bool {
        guard self.acceptedStatuses.contains(head.status) else { return false }
        guard head.isSuccess else { return true }
        return acceptsType(of: head)
    }
}

extension AuthenticationChallenge {
    public init(refreshing space: ProtectionSpace) {
        self.init(space: space, schemes: [], scope: "/")
    }
}

/// The headers and the URL that the host has given for a refresh. They replace the headers and the URL with which the
/// host enqueued the request.
public struct RefreshedRequest: Equatable, Sendable {
    /// The challenge (the demand for new headers or a new URL) to which the host responded.
    public var challenge: ChallengeID
    public var url: String?
    public var headers: [HeaderField]
    /// When the new headers or the new URL expire, in Unix milliseconds; nil if they do not expire.
    public var expiresMilliseconds: Int64?
    /// Whether the host declined to give headers or a URL. If so, the request is sent unchanged, and no further refresh
    /// is requested from the host.
    public var isDeclined: Bool

    public init(
        challenge: ChallengeID, url: String? = nil, headers: [HeaderField] = [], expiresMilliseconds: Int64? = nil,
        isDeclined: Bool = false
    ) {
        self.challenge = challenge
        self.url = url
        self.headers = headers
        self.expiresMilliseconds = expiresMilliseconds
        self.isDeclined = isDeclined
    }

    /// Returns the request with these headers and this URL.
    public func applied(to request: Request) -> Request {
        var request = request
        request.replace(url: url, headers: headers)
        request.options.expiresMilliseconds = expiresMilliseconds
        if isDeclined { request.options.refresh = .none }
        return request
    }
}

extension RefreshedRequest: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["challenge": challenge]) }
}

extension [HeaderField] {
    /// Returns these fields, followed by `others`. If a name occurs in both lists, only the field of `others` is
    /// returned. Names are compared without case (RFC 9110, section 5.1).
    public func replacing(_ others: [HeaderField]) -> [HeaderField] {
        let names = Set(others.map { $0.name.lowercased() })
        return filter { !names.contains($0.name.lowercased()) } + others
    }
}
