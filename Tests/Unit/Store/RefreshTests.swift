import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Refreshes of requests")
struct RefreshTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }

    private func request(_ number: Int, _ kind: RefreshKind) -> Request {
        .numbered(number) {
            $0.headers = [HeaderField("Authorization", "old"), HeaderField("Accept", "x")]
            $0.options.refresh = kind
            $0.options.expiresMilliseconds = 10
        }
    }

    private func authChallenge(_ kind: RefreshKind, _ task: TaskID) -> AuthenticationChallenge {
        AuthenticationChallenge(refreshing: RefreshPolicy.space(kind, of: task, origin: Origin.example.text))
    }

    @discardableResult
    private func ask(
        _ store: TestStore, _ kind: RefreshKind, _ tasks: [TaskID], replacing: ChallengeID? = nil
    ) throws -> ParkedTask? {
        try store.run {
            try $0.challenges.open(
                authChallenge(kind, tasks[0]), for: tasks, replacing: replacing, bootMilliseconds: 10, now: 2_500)
        }
    }

    private func challenges(_ store: TestStore, _ session: SessionID) throws -> [Challenge] {
        try store.run { try $0.challenges.all(of: session) }
    }

    private func respond(
        _ store: TestStore, _ session: SessionID, _ refreshed: (ChallengeID) -> RefreshedRequest,
        _ origin: Origin? = nil
    ) throws {
        let open = try #require(try challenges(store, session).first)
        let response = refreshed(open.id)
        try store.run { transaction in
            try transaction.credentials.refresh(open, with: response, origin: origin, in: session)
            _ = try transaction.challenges.releaseTasks(of: open, in: session)
        }
    }

    private func stored(_ store: TestStore, _ task: TaskID) throws -> StoredTask {
        try #require(try store.run { try $0.tasks.find(task)?.task })
    }

    private let token = [HeaderField("authorization", "new")]

    @Test("refreshed headers apply to the existing tasks that have a refresh option, and not to later tasks")
    func headers() throws {
        let ids = try store.enqueue(
            [request(0, .headers), request(1, .headers), request(2, .none), request(3, .headers)].map { request in
                var request = request
                if request.options.refresh == .none { request.options.expiresMilliseconds = nil }
                return request
            }, in: session)
        #expect(try ask(store, .headers, [ids[0]])?.isNew == true)
        #expect(try ask(store, .headers, [ids[1]])?.isNew == false)
        let open = try challenges(store, session)
        #expect(open.map(\.waitingTasks) == [2])
        #expect(open[0].space == RefreshPolicy.space(.headers, of: ids[0], origin: Origin.example.text))
        #expect(open[0].url == nil)
        #expect(try store.events(of: session).count == 1)
        try respond(store, session) { RefreshedRequest(challenge: $0, headers: token, expiresMilliseconds: 99) }
        let later = try store.enqueue([request(4, .headers)], in: session)
        for id in [ids[0], ids[1], ids[3]] {
            let task = try stored(store, id)
            #expect(task.request.headers == [HeaderField("Accept", "x")] + token)
            #expect(task.request.options.expiresMilliseconds == 99)
            #expect(task.refreshed?.challenge == open[0].id)
        }
        for id in [ids[2], later[0]] { #expect(try stored(store, id).request.headers[0].value == "old") }
        #expect(try store.events(of: session).isEmpty)
    }

    @Test("a second refresh adds headers, and a refresh that the host declines changes no header")
    func twice() throws {
        let ids = try store.enqueue([request(0, .headers)], in: session)
        try ask(store, .headers, ids)
        try respond(store, session) { RefreshedRequest(challenge: $0, headers: [HeaderField("X-Tenant", "t")]) }
        try ask(store, .headers, ids)
        try respond(store, session) { RefreshedRequest(challenge: $0, headers: token) }
        #expect(try stored(store, ids[0]).request.headers.map(\.value) == ["x", "t", "new"])
        try ask(store, .headers, ids)
        try respond(store, session) { RefreshedRequest(challenge: $0, isDeclined: true) }
        let task = try stored(store, ids[0])
        #expect(task.request.headers.map(\.value) == ["x", "t", "new"])
        #expect(task.request.options.refresh == .none)
    }

    @Test("a task is found by its idempotency key even after its headers were refreshed")
    func idempotent() throws {
        var keyed = request(0, .headers)
        keyed.idempotencyKey = "k"
        let ids = try store.enqueue([keyed], in: session)
        try ask(store, .headers, ids)
        try respond(store, session) { RefreshedRequest(challenge: $0, headers: token) }
        #expect(try store.enqueue([keyed], in: session) == ids)
    }

    @Test("a refreshed URL moves only one task to the new origin, and removes the headers of this task")
    func urls() throws {
        let ids = try store.enqueue([request(0, .url), request(1, .url)], in: session)
        for id in ids { #expect(try ask(store, .url, [id])?.isNew == true) }
        let open = try challenges(store, session)
        #expect(open.map(\.space.task) == ids)
        #expect(open.map(\.space.realm) == [nil, nil])
        #expect(open.map(\.url) == ["https://example.org/files/0", "https://example.org/files/1"])
        let other = Origin(scheme: "https", server: "cdn.org", port: 443)
        try respond(store, session, { RefreshedRequest(challenge: $0, url: "https://cdn.org/x") }, other)
        let task = try stored(store, ids[0])
        #expect(task.request.url == "https://cdn.org/x" && task.origin == other)
        #expect(task.request.headers.isEmpty, "the headers were for the first origin")
        #expect(try stored(store, ids[1]).origin == .example)
        try ask(store, .url, [ids[0]])
        #expect(try challenges(store, session).last?.url == "https://cdn.org/x")
    }

    struct CheckpointCase: Sendable {
        var tag: String?
        var modified: String?
        var size: UInt64?
        var stays: Bool
    }

    @Test(
        "a task with a new URL keeps only a checkpoint that has a strong entity tag and a size",
        arguments: [
            CheckpointCase(tag: "\"a\"", size: 9, stays: true), CheckpointCase(tag: "\"a\"", size: nil, stays: false),
            CheckpointCase(modified: "Fri, 20 Nov 2026 08:00:00 GMT", size: 9, stays: false),
        ])
    func checkpoints(_ row: CheckpointCase) throws {
        let ids = try store.enqueue([request(0, .url)], in: session)
        try store.run {
            try $0.attempts.recordCheckpoint(
                ids[0],
                Checkpoint(
                    validator: Validator(entityTag: row.tag, lastModified: row.modified), finalURL: "https://a/",
                    size: row.size, syncedOffset: 5, bootID: "b"))
        }
        try ask(store, .url, ids)
        try respond(store, session, { RefreshedRequest(challenge: $0, url: "https://example.org/2") }, .example)
        #expect(try stored(store, ids[0]).checkpoint?.finalURL == (row.stays ? "" : nil))
    }

    @Test("a refreshed URL for a task that does not exist stores nothing")
    func missing() throws {
        let id = try store.enqueue([request(1, .url)], in: session)[0]
        try ask(store, .url, [id])
        var open = try #require(try challenges(store, session).first)
        open.space.task = TaskID(rawValue: 77)
        let (challenge, origin) = (open, Origin(scheme: "https", server: "cdn.example.org", port: 443))
        let rows = try store.run { transaction in
            let refreshed = RefreshedRequest(challenge: challenge.id, url: "https://cdn.example.org/1")
            try transaction.credentials.refresh(challenge, with: refreshed, origin: origin, in: session)
            return try transaction.connection.pragma(
                "SELECT (SELECT count(*) FROM refreshed_requests) || ' ' || (SELECT count(*) FROM lanes)")
        }
        #expect(rows == "0 1")
    }

    @Test("if one of the released tasks needs another refresh, all of them wait again")
    func again() throws {
        let ids = try store.enqueue((0..<3).map { request($0, .headers) }, in: session)
        try ask(store, .headers, ids)
        let first = try #require(try challenges(store, session).first)
        try respond(store, session) { RefreshedRequest(challenge: $0, headers: token) }
        let parked = try ask(store, .headers, [ids[0]], replacing: first.id)
        #expect(parked?.change.lanes.count == 1)
        #expect(try challenges(store, session).map(\.waitingTasks) == [3])
        try store.control(session, .cancel)
        #expect(try ask(store, .headers, ids) == nil)
        #expect(try challenges(store, session).isEmpty)
    }

    @Test("a stored credential can be read, replaced and removed")
    func kept() throws {
        let space = ProtectionSpace(kind: .server, origin: "https://a:443", realm: "r")
        let credentials = [
            StoredCredential(
                space: space, challenge: ChallengeID(rawValue: 3), schemes: [.digest, .basic],
                response: .credential(user: "u", password: "")),
            StoredCredential(
                space: ProtectionSpace(kind: .proxy, origin: "http://p:1", realm: nil),
                challenge: ChallengeID(rawValue: 4), schemes: .bearer, response: .headers(token),
                expiresMilliseconds: 77),
        ]
        let newer = StoredCredential(
            space: space, challenge: ChallengeID(rawValue: 5), schemes: .basic,
            response: .credential(user: "u", password: "p"))
        func all() throws -> [StoredCredential] {
            try store.run { try $0.credentials.kept() }
                .map(\.credential).sorted { $0.challenge < $1.challenge }
        }
        try store.run { transaction in
            for credential in credentials { try transaction.credentials.keep(credential, of: session) }
        }
        #expect(try all() == credentials)
        try store.run { try $0.credentials.keep(newer, of: session) }
        #expect(try all() == [credentials[1], newer])
        try store.run { try $0.credentials.clearExpired(now: 76) }
        #expect(try all() == [credentials[1], newer])
        try store.run { try $0.credentials.forget(space, of: session) }
        #expect(try all() == [credentials[1]])
    }

    @Test("the secret of a credential that has expired is removed; its challenge is opened before the next request")
    func expired() throws {
        var credential = StoredCredential(
            space: ProtectionSpace(kind: .server, origin: "https://a:443", realm: "r"),
            challenge: ChallengeID(rawValue: 3), schemes: .basic, response: .credential(user: "u", password: "p"),
            expiresMilliseconds: 77)
        try store.run { [credential] in try $0.credentials.keep(credential, of: session) }
        try store.run { try $0.credentials.clearExpired(now: 77) }
        (credential.response, credential.expiresMilliseconds) = (.headers([]), 0)
        #expect(try store.run { try $0.credentials.kept() }.map(\.credential) == [credential])
    }

    @Test("the store keeps only the newest credentials of a server that invents realms")
    func invented() throws {
        let limit = UInt64(SessionCredentials.credentialLimit)
        for number in 1...limit + 2 {
            let credential = StoredCredential(
                space: ProtectionSpace(kind: .server, origin: "https://a:443", realm: "realm \(number)"),
                challenge: ChallengeID(rawValue: number), schemes: .basic,
                response: .credential(user: "u", password: "p"))
            try store.run { try $0.credentials.keep(credential, of: session) }
        }
        let kept = try store.run { try $0.credentials.kept() }
        #expect(Set(kept.map(\.credential.challenge.rawValue)) == Set(3...limit + 2))
    }
}
