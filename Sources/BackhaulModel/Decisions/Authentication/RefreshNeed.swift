/// When the host is asked for what a request says that expires.
public enum RefreshNeed {
    /// One space for all tasks of an origin whose headers expire, and one for each task whose URL does.
    public static func space(_ kind: RefreshKind, of task: TaskID, origin: String) -> ProtectionSpace {
        ProtectionSpace(kind: .refresh, origin: origin, realm: nil, task: kind == .url ? task : nil)
    }

    /// An attempt that starts now would be too late.
    public static func isOver(_ options: RequestOptions, now: Int64) -> Bool {
        options.refresh != .none && (options.expiresMilliseconds.map { $0 <= now } ?? false)
    }

    /// 401, or 403, with which stores of files answer to a signature that has expired. Headers go to the URL's own
    /// origin only, so that another one's answer says nothing about them.
    public static func isAsked(by head: ResponseHead, _ options: RequestOptions, origin: String) -> Bool {
        switch options.refresh {
        case .none: false
        case .headers: (head.status == 401 || head.status == 403) && head.origin == origin
        case .url: head.status == 401 || head.status == 403
        }
    }
}

extension AuthenticationDemand {
    public init(refreshing space: ProtectionSpace) {
        self.init(space: space, schemes: [], scope: "/")
    }
}

/// What the host has given in the place of what a request was enqueued with.
public struct RefreshedRequest: Equatable, Sendable {
    /// Whose answer it was.
    public var challenge: ChallengeID
    public var url: String?
    public var headers: [HeaderField]
    /// Unix milliseconds.
    public var expiresMilliseconds: Int64?
    /// The host had nothing: the request is sent as it is, and the host is not asked again.
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

    /// What the request is with it.
    public func applied(to request: Request) -> Request {
        var request = request
        if let url {
            request.isElsewhere = !url.hasAuthority(of: request.url)
            request.url = url
        }
        // Headers are for the origin of the URL that they were given with.
        request.headers = request.isElsewhere ? headers : request.headers.replacing(headers)
        request.options.expiresMilliseconds = expiresMilliseconds
        if isDeclined { request.options.refresh = .none }
        return request
    }
}

extension RefreshedRequest: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["challenge": challenge]) }
}

extension [HeaderField] {
    /// These, without those whose names the others have, and the others (names without case: RFC 9110, section 5.1).
    public func replacing(_ others: [HeaderField]) -> [HeaderField] {
        let names = Set(others.map { $0.name.lowercased() })
        return filter { !names.contains($0.name.lowercased()) } + others
    }
}
