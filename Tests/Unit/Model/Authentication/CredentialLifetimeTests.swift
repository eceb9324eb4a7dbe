import Testing

@testable import BackhaulModel

/// If the host chooses *default handling* of a challenge, a task continues without a credential.
@Suite("Expired credentials, default handling and refreshes")
struct CredentialLifetimeTests {
    private static let origin = "https://example.org:443"
    private let secret = ChallengeResponse.credential(user: "user", password: "open sesame")
    private let space = ProtectionSpace(kind: .server, origin: Self.origin, realm: "staff")
    private var credentials = SessionCredentials()

    private func challenge(
        _ id: UInt64, _ space: ProtectionSpace, _ schemes: AuthenticationSchemes = .basic, failures: UInt32 = 0
    ) -> Challenge {
        Challenge(
            id: ChallengeID(rawValue: id), space: space, schemes: schemes, failures: failures, timeMilliseconds: 0,
            waitingTasks: 1)
    }

    private func authChallenge(_ url: String = "https://example.org/files/1") throws -> AuthenticationChallenge {
        try #require(
            AuthenticationChallenge(
                ResponseHead(
                    status: 401, finalURL: url, isMultiplexed: false,
                    fields: [ResponseField("WWW-Authenticate", "Basic realm=\"staff\"")], origin: Self.origin)))
    }

    private func wait(_ url: String, last: UInt64? = nil) -> SessionCredentials.PendingChallenge? {
        credentials.wait(for: url, in: Self.origin, last: last.map(ChallengeID.init))
    }

    @Test("a credential is used with the strongest scheme that the server offers and the credential supports")
    mutating func strongest() {
        let all: [(AuthenticationSchemes, ChallengeResponse, AuthenticationSchemes)] = [
            (.basic, secret, .basic), ([.basic, .digest], secret, .digest), ([.negotiate, .digest], secret, .digest),
            ([.basic, .negotiate], .credential(user: "", password: ""), .negotiate),
        ]
        for (id, (offered, response, used)) in all.enumerated() {
            credentials.storeResponse(challenge(UInt64(id + 1), space, offered), response)
            #expect(credentials.credential(server: Self.origin, url: "https://example.org/")?.scheme == used)
        }
    }

    @Test("an expired credential is not sent, and tasks that need it wait until there is a new credential")
    mutating func tooOld() throws {
        let asked = try authChallenge()
        credentials.noteChallenge(asked, in: Self.origin)
        credentials.storeResponse(challenge(1, space), secret, expires: 1_000)
        credentials.commitChallenge(space, challenge: nil)
        let sent = try #require(credentials.credential(server: Self.origin, url: "https://example.org/files/2"))
        _ = credentials.accepted([sent.number], in: Self.origin)
        #expect(wait("https://example.org/files/2") == nil)
        let early = credentials.expire(now: 999)
        let late = credentials.expire(now: 1_000)
        let again = credentials.expire(now: 1_001)
        #expect([early, late, again] == [false, true, false])
        #expect(credentials.credential(server: Self.origin, url: "https://example.org/files/2") == nil)
        #expect(!credentials.isEmpty)
        guard case .openChallenge(let question, let old) = wait("https://example.org/files/2") else {
            Issue.record("no credential is requested")
            return
        }
        #expect(question.space == space && question.schemes == .basic)
        #expect(old == ChallengeID(rawValue: 1))
        credentials.noteChallenge(question, in: Self.origin)
        credentials.commitChallenge(space, challenge: ChallengeID(rawValue: 2))
        #expect(wait("https://example.org/files/2") == .open(ChallengeID(rawValue: 2)))
        // A request with the old credential was in progress when the credential expired.
        let decision = credentials.decision(on: space, sent: [sent.number], in: Self.origin)
        #expect(decision == .openChallenge(failures: 0, replacing: nil))
    }

    @Test("a credential from the store is sent, and the lane that uses it may run several tasks at once")
    mutating func kept() {
        credentials.restore(
            StoredCredential(space: space, challenge: ChallengeID(rawValue: 4), schemes: .digest, response: secret))
        let credential = credentials.credential(server: Self.origin, url: "https://example.org/any")
        #expect(credential?.response == secret && credential?.scheme == .digest && credential?.number == 4)
        #expect(!credentials.runsOneTask(Self.origin))
        let decision = credentials.decision(on: space, sent: [4], in: Self.origin)
        #expect(decision == .openChallenge(failures: 1, replacing: ChallengeID(rawValue: 4)))
    }

    @Test("after default handling, a task ignores a later challenge, but other tasks wait for that challenge")
    mutating func without() throws {
        credentials.noteChallenge(try authChallenge(), in: Self.origin)
        credentials.commitChallenge(space, challenge: ChallengeID(rawValue: 1))
        credentials.storeResponse(challenge(1, space), .standard)
        #expect(credentials.proceeds(without: space, after: ChallengeID(rawValue: 1)))
        #expect(!credentials.proceeds(without: space, after: nil))
        let proxy = ProtectionSpace(kind: .proxy, origin: "p", realm: nil)
        #expect(!credentials.proceeds(without: proxy, after: ChallengeID(rawValue: 1)))
        #expect(!credentials.runsOneTask(Self.origin))
        credentials.noteChallenge(try authChallenge(), in: Self.origin)
        credentials.commitChallenge(space, challenge: ChallengeID(rawValue: 2))
        #expect(wait("https://example.org/files/2", last: 1) == nil)
        #expect(wait("https://example.org/files/2") == .open(ChallengeID(rawValue: 2)))
    }

    // MARK: Refreshes

    private let headers = RefreshPolicy.space(.headers, of: TaskID(rawValue: 9), origin: Self.origin)
    private let address = RefreshPolicy.space(.url, of: TaskID(rawValue: 9), origin: Self.origin)

    private func options(_ kind: RefreshKind, expires: Int64? = nil) -> RequestOptions {
        var options = RequestOptions()
        options.refresh = kind
        options.expiresMilliseconds = expires
        return options
    }

    @Test(
        "a refresh is due at the expiry, or after 401 or 403 (headers: from the task's origin; a URL: also 404, 410)",
        arguments: [
            (RefreshKind.none, 401, Self.origin, false), (.headers, 401, Self.origin, true),
            (.headers, 403, Self.origin, true), (.headers, 403, "https://cdn:443", false),
            (.headers, 404, Self.origin, false),
            (.headers, 407, Self.origin, false), (.url, 403, "https://cdn:443", true), (.url, 200, Self.origin, false),
            (.url, 404, Self.origin, true), (.url, 410, "https://cdn:443", true), (.url, 400, Self.origin, false),
            (.headers, 410, Self.origin, false), (.none, 404, Self.origin, false),
        ])
    func need(_ kind: RefreshKind, _ status: Int32, _ origin: String, _ isRequested: Bool) {
        let head = ResponseHead(status: status, finalURL: "", isMultiplexed: false, fields: [], origin: origin)
        var request = Request(url: "https://example.org/file")
        request.options = options(kind)
        let policy = TransferPolicy(SessionConfiguration(identifier: "s"))
        #expect(RefreshPolicy.isRequested(by: head, request, policy, origin: Self.origin) == isRequested)
        #expect(RefreshPolicy.isDue(options(kind, expires: 100), now: 100) == (kind != .none))
        #expect(!RefreshPolicy.isDue(options(kind, expires: 100), now: 99))
        #expect(!RefreshPolicy.isDue(options(kind), now: 100))
    }

    @Test("a redirect to a login page asks for a new URL, except for uploads and pages that the request accepts")
    func loginPage() {
        let head = ResponseHead(
            status: 200, finalURL: "https://example.org/login", isMultiplexed: false,
            fields: [ResponseField("Content-Type", "text/html")], origin: Self.origin)
        var request = Request(url: "https://example.org/file")
        request.options = options(.url)
        var session = SessionConfiguration(identifier: "s")
        func isRequested() -> Bool {
            RefreshPolicy.isRequested(by: head, request, TransferPolicy(session), origin: Self.origin)
        }
        #expect(isRequested())
        session.policy.acceptedTypes = "text/*"
        #expect(!isRequested())
        session.policy.acceptedTypes = nil
        request.options.body = .bytes([1])
        #expect(!isRequested())
    }

    @Test(
        "the body of a 400 response shows that a URL has expired by the codes and texts of stores",
        arguments: [
            ("<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>", true),
            ("<Code>TokenRefreshRequired</Code>", true), (#"{"code":"AuthenticationFailed"}"#, true),
            ("Request has expired", true), ("This link has expired.", true), ("URL signature expired", true),
            ("<Code>InvalidArgument</Code>", false), ("", false), ("the session expired", false),
        ])
    func body(_ body: String, _ isRequested: Bool) {
        #expect(RefreshPolicy.isRequested(byBody: Array(body.utf8)) == isRequested)
    }

    @Test("only a 400 response to a request whose URL can expire is searched for such codes")
    func searched() {
        let head = ResponseHead(status: 400, finalURL: "", isMultiplexed: false, fields: [])
        #expect(RefreshPolicy.mayBeRequested(byBodyOf: head, options(.url)))
        #expect(!RefreshPolicy.mayBeRequested(byBodyOf: head, options(.headers)))
    }

    @Test("all tasks of an origin share a refresh of headers, but a refresh of a URL is for one task")
    func spaces() {
        #expect(headers == RefreshPolicy.space(.headers, of: TaskID(rawValue: 8), origin: Self.origin))
        #expect(address != RefreshPolicy.space(.url, of: TaskID(rawValue: 8), origin: Self.origin))
        #expect(headers.sentence.contains("headers") && address.sentence.contains("URL"))
        #expect(headers.failure.status == .authenticationRequired)
    }

    @Test("tasks wait while a refresh of headers is open, and afterwards only one task tests the new headers")
    mutating func refreshed() {
        let asked = AuthenticationChallenge(refreshing: headers)
        #expect(credentials.wait(forRefresh: headers, isDue: false) == nil)
        #expect(credentials.wait(forRefresh: headers, isDue: true) == .openChallenge(asked, replacing: nil))
        credentials.noteChallenge(asked, in: Self.origin)
        #expect(credentials.runsOneTask(Self.origin))
        credentials.commitChallenge(headers, challenge: ChallengeID(rawValue: 1))
        #expect(!credentials.runsOneTask(Self.origin))
        #expect(credentials.wait(forRefresh: headers, isDue: false) == .open(ChallengeID(rawValue: 1)))
        #expect(wait("https://example.org/files/2") == nil)
        credentials.storeResponse(challenge(1, headers, []), .headers([]))
        #expect(credentials.runsOneTask(Self.origin))
        #expect(credentials.credential(server: Self.origin, url: "https://example.org/") == nil)
        var decision = credentials.decision(on: headers, sent: [], in: Self.origin)
        #expect(decision == .resend)
        _ = credentials.accepted([1], in: Self.origin)
        #expect(!credentials.runsOneTask(Self.origin))
        // The server had accepted these headers before, so they have expired, and no failure is counted.
        decision = credentials.decision(on: headers, sent: [1], in: Self.origin)
        #expect(decision == .openChallenge(failures: 0, replacing: ChallengeID(rawValue: 1)))
    }

    @Test("a new refresh opens if the server refuses the own headers of a task that was enqueued after the response")
    mutating func refusedLater() {
        credentials.storeResponse(
            challenge(1, headers, [], failures: 2), .headers([]), newest: TaskID(rawValue: 5))
        var decision = credentials.decision(on: headers, sent: [], in: Self.origin, of: TaskID(rawValue: 5))
        #expect(decision == .resend)
        decision = credentials.decision(on: headers, sent: [], in: Self.origin, of: TaskID(rawValue: 6))
        #expect(decision == .openChallenge(failures: 2, replacing: ChallengeID(rawValue: 1)))
    }

    @Test("a failure is counted if the server refuses refreshed headers or a refreshed URL")
    mutating func wrong() {
        credentials.storeResponse(challenge(1, headers, [], failures: 2), .headers([]))
        var decision = credentials.decision(on: headers, sent: [1], in: Self.origin)
        #expect(decision == .openChallenge(failures: 3, replacing: ChallengeID(rawValue: 1)))
        credentials.storeResponse(challenge(2, address, [], failures: 2), .url("https://a/"))
        decision = credentials.decision(on: address, sent: [2], in: Self.origin)
        #expect(decision == .openChallenge(failures: 3, replacing: nil))
        credentials.acceptedURL(of: TaskID(rawValue: 9))
        decision = credentials.decision(on: address, sent: [2], in: Self.origin)
        #expect(decision == .openChallenge(failures: 0, replacing: nil))
    }

    @Test("a refresh replaces headers or URL; a declined refresh changes neither; another origin gets no old headers")
    func laid() {
        var request = Request(url: "https://a/old")
        request.headers = [HeaderField("authorization", "old"), HeaderField("Accept", "x")]
        request.options = options(.headers, expires: 5)
        let id = ChallengeID(rawValue: 1)
        let given = RefreshedRequest(
            challenge: id, headers: [HeaderField("Authorization", "new")], expiresMilliseconds: 9)
        let fresh = given.applied(to: request)
        #expect(fresh.headers == [HeaderField("Accept", "x"), HeaderField("Authorization", "new")])
        #expect(fresh.url == "https://a/old")
        #expect(fresh.options.expiresMilliseconds == 9 && fresh.options.refresh == .headers)
        let declined = RefreshedRequest(challenge: id, isDeclined: true).applied(to: request)
        #expect(declined.headers == request.headers && declined.options.refresh == .none)
        let moved = RefreshedRequest(challenge: id, url: "https://b/").applied(to: request)
        #expect(moved.url == "https://b/")
        #expect(moved.headers.isEmpty && moved.isCrossOrigin, "headers are not sent to another origin")
        var dumped = ""
        dump(given, to: &dumped)
        #expect(!dumped.contains("new"))
    }

    @Test("after a URL of another origin was taken, a refresh neither adds the session's headers nor drops taken ones")
    func refreshedAfterTaken() {
        var request = Request(url: "https://api/new")
        request.headers = [HeaderField("Authorization", "of the host")]
        var taken = TakenValues()
        taken.url = "https://storage/1"
        taken.headers = [HeaderField("X-Upload", "taken")]
        let first = taken.applied(to: request)
        #expect(first.isCrossOrigin && first.headers == taken.headers)
        let id = ChallengeID(rawValue: 1)
        let moved = RefreshedRequest(challenge: id, url: "https://storage/2").applied(to: first)
        #expect(moved.isCrossOrigin && moved.headers == taken.headers)
        let given = RefreshedRequest(challenge: id, headers: [HeaderField("X-Token", "new")]).applied(to: first)
        #expect(given.isCrossOrigin && given.headers == taken.headers + [HeaderField("X-Token", "new")])
    }
}
