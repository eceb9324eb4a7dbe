import BackhaulClient
import BackhaulModel
import BackhaulPlatform
import Testing

@Suite("Credentials")
struct CredentialTests {
    let store: TestStore
    let origin: TestOrigin

    /// The credential that the server `origin` accepts. `basic` is the same credential, encoded for Basic
    /// authentication.
    private static let right = ChallengeResponse.credential(user: "user", password: "password")
    private static let basic = "Basic dXNlcjpwYXNzd29yZA=="

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
    }

    private var configuration: SessionConfiguration {
        var configuration = SessionConfiguration(identifier: "s")
        configuration.asksForCredentials = true
        configuration.firstRetryDelayMilliseconds = 1
        return configuration
    }

    private func challenges(_ session: SessionClient) throws -> [Challenge] {
        guard case .challenges(let challenges) = try reply(session.submit { .challenges($0) }) else {
            throw Unexpected()
        }
        return challenges
    }

    @discardableResult
    private func respond(
        _ session: SessionClient, _ challenge: ChallengeID, _ response: ChallengeResponse
    ) throws -> Reply {
        try reply(session.submit { .respond($0, challenge, response, CredentialLifetime()) })
    }

    /// Waits until one challenge is open and `tasks` tasks wait for it.
    private func challenge(_ session: SessionClient, tasks: UInt64 = 1) throws -> Challenge {
        #expect(waitUntil { (try? challenges(session).first?.waitingTasks) == tasks })
        let open = try challenges(session)
        #expect(open.count == 1)
        return try #require(open.first)
    }

    private func tasks(_ session: SessionClient) throws -> [TaskInfo] {
        guard case .tasks(let tasks, _) = try reply(session.tasks(TaskSelection(), after: .zero, maximum: 1_000))
        else { throw Unexpected() }
        return tasks
    }

    @discardableResult
    private func enqueue(_ session: SessionClient, files count: Int) throws -> [Enqueued] {
        var requests: [Request] = []
        for index in 0..<count {
            origin.serve("/files/\(index)", .init(bytes: pattern(index), authorization: Self.basic))
            requests.append(try store.request(origin.url("/files/\(index)"), "\(index)"))
        }
        return try EngineTests.enqueue(session, requests)
    }

    @Test("if a session does not ask for credentials, a response with status 401 fails the task")
    func off() throws {
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        try enqueue(session, files: 1)
        let task = try #require(ended(try eventsOfRound(session)[0]))
        #expect(task.outcome.failure?.status == .httpStatus)
        #expect(task.outcome.failure?.detail == 401)
    }

    @Test("the last progress of a task that waits for a credential says so")
    func progress() throws {
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(configuration, .consume))
        _ = try reply(session.watchProgress(intervalMilliseconds: 100))
        try enqueue(session, files: 1)
        let last = try EngineTests.progress(of: session, until: .waiting)
        #expect(last?.reason == .credential)
    }

    @Test("fifty tasks share one challenge, one event and one credential")
    func fifty() throws {
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(configuration, .consume))
        try enqueue(session, files: 50)
        let open = try challenge(session, tasks: 50)
        #expect(open.space == ProtectionSpace(kind: .server, origin: origin.url(""), realm: "staff"))
        #expect(open.schemes == .basic)
        #expect(open.failures == 0)
        // The engine sent only the requests that were in progress when the first 401 arrived.
        #expect(origin.requests.count <= 7)
        let waiting = try tasks(session)
        #expect(waiting.allSatisfy { $0.state == .waiting && $0.reason == .credential })
        #expect(waiting[49].reasonText?.contains(origin.url("")) == true)
        #expect(waiting[49].reasonText?.contains("staff") == true)
        guard case .events(let events, _) = try reply(session.poll(after: .zero, maximum: 10)) else {
            throw Unexpected()
        }
        #expect(events.map(\.kind) == [.challenge(open)])
        _ = try respond(session, open.id, Self.right)
        let ends = try eventsOfRound(session)
        #expect(ends.compactMap(ended).count { $0.outcome.state == .succeeded } == 50)
        #expect(!ends.contains { if case .challenge = $0.kind { true } else { false } })
        #expect(store.bytes(of: store.files + "/49") == pattern(49))
    }

    @Test("a credential that the server rejects costs one request, and the next challenge counts one failure")
    func wrongThenRight() throws {
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(configuration, .consume))
        try enqueue(session, files: 50)
        let first = try challenge(session, tasks: 50)
        let before = origin.requests.count
        _ = try respond(session, first.id, .credential(user: "user", password: "wrong"))
        #expect(waitUntil { (try? challenges(session).first?.failures) == 1 })
        let second = try challenge(session, tasks: 50)
        #expect(second.id > first.id)
        #expect(origin.requests.count == before + 1)
        let failure = #expect(throws: Failure.self) { try respond(session, first.id, Self.right) }
        #expect(failure?.status == .notFound)
        _ = try respond(session, second.id, Self.right)
        #expect(try eventsOfRound(session).compactMap(ended).count { $0.outcome.state == .succeeded } == 50)
    }

    @Test("when the host refuses the challenge, all waiting tasks fail and the round ends")
    func refusal() throws {
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(configuration, .consume))
        try enqueue(session, files: 20)
        _ = try respond(session, try challenge(session, tasks: 20).id, .refuse)
        let ends = try eventsOfRound(session)
        #expect(ends.count == 21)
        #expect(ends.compactMap(ended).allSatisfy { $0.outcome.failure?.status == .authenticationRequired })
        #expect(try challenges(session).isEmpty)
    }

    @Test("the tasks of a refused challenge count as failed in the metrics")
    func refusalInMetrics() throws {
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(configuration, .consume))
        try enqueue(session, files: 2)
        _ = try respond(session, try challenge(session, tasks: 2).id, .refuse)
        _ = try eventsOfRound(session)
        guard case .metrics(let text) = try reply(application.submit(.metrics)) else { throw Unexpected() }
        #expect(text.contains(#"backhaul_ended_tasks_total{outcome="failed"} 2"#))
        #expect(text.contains(#"backhaul_ended_tasks_total{outcome="cancelled"} 0"#))
    }

    @Test("if a challenge does not offer Basic, the host may respond with header fields, but not with a password")
    func bearer() throws {
        origin.serve(
            "/api", .init(bytes: pattern(9), authorization: "Bearer token", challenge: "Bearer realm=\"api\""))
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(configuration, .consume))
        _ = try EngineTests.enqueue(session, [try store.request(origin.url("/api"), "a")])
        let open = try challenge(session)
        let failure = #expect(throws: Failure.self) { try respond(session, open.id, Self.right) }
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.contains("Bearer") == true)
        _ = try respond(session, open.id, .headers([HeaderField("Authorization", "Bearer token")]))
        #expect(ended(try eventsOfRound(session)[0])?.outcome.state == .succeeded)
    }

    @Test("a credential is not sent to another origin")
    func otherOrigin() throws {
        let other = try TestOrigin()
        other.serve("/there", .init(bytes: pattern(7), authorization: "Basic b3RoZXI6b3RoZXI="))
        origin.serve("/here", .init(bytes: [], authorization: Self.basic, location: other.url("/there")))
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(configuration, .consume))
        _ = try EngineTests.enqueue(session, [try store.request(origin.url("/here"), "a")])
        let first = try challenge(session)
        _ = try respond(session, first.id, Self.right)
        #expect(waitUntil { (try? challenges(session).first?.space.origin) == other.url("") })
        let second = try challenge(session)
        #expect(other.requests.allSatisfy { $0.authorization == nil })
        _ = try respond(session, second.id, .credential(user: "other", password: "other"))
        #expect(ended(try eventsOfRound(session)[0])?.outcome.state == .succeeded)
        #expect(origin.requests.allSatisfy { $0.authorization == nil || $0.authorization == Self.basic })
        #expect(Set(other.requests.map(\.authorization)) == [nil, "Basic b3RoZXI6b3RoZXI="])
    }

    @Test("a challenge whose event is acknowledged stays open while a task waits for it")
    func leftOpen() throws {
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(configuration, .consume))
        let items = try enqueue(session, files: 3)
        _ = try challenge(session, tasks: 3)
        guard case .events(let events, _) = try reply(session.poll(after: .zero, maximum: 10)) else {
            throw Unexpected()
        }
        _ = try reply(session.acknowledge(.through(try #require(events.last).id)))
        _ = try challenge(session, tasks: 3)
        _ = try reply(session.control(.suspend, TaskSelection(ids: [items[0].task])))
        _ = try challenge(session, tasks: 2)
        _ = try reply(session.control(.cancel, TaskSelection(ids: items.dropFirst().map(\.task))))
        #expect(try challenges(session).isEmpty)
        _ = try reply(session.control(.resume, TaskSelection()))
        _ = try challenge(session)
    }

    @Test("tasks that wait for a credential fail when their resource time-out ends, and their challenge closes")
    func expired() throws {
        var configuration = configuration
        configuration.resourceTimeoutMilliseconds = 1_500
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(configuration, .consume))
        try enqueue(session, files: 3)
        let ends = try eventsOfRound(session).compactMap(ended)
        #expect(ends.map(\.outcome.failure?.status) == [.resourceTimeout, .resourceTimeout, .resourceTimeout])
        #expect(try challenges(session).isEmpty)
    }

    @Test("an open challenge stays open in the next engine, and this engine sends no request before the host responds")
    func outlives() throws {
        let first = try store.open()
        let before = try session(first.createSession(configuration, .consume))
        try enqueue(before, files: 5)
        let open = try challenge(before, tasks: 5)
        first.close()
        let requestCount = origin.requests.count
        let second = try store.open()
        defer { second.close() }
        let after = try session(second.attachSession("s", .consume))
        #expect(try challenge(after, tasks: 5).id == open.id)
        #expect(origin.requests.count == requestCount)
        _ = try respond(after, open.id, Self.right)
        #expect(try eventsOfRound(after).compactMap(ended).count { $0.outcome.state == .succeeded } == 5)
    }

    @Test(
        "a credential that is not stored is demanded again after a restart, and then the download resumes")
    func resumes() throws {
        let bytes = pattern(5_000_000)
        origin.serve(
            "/big",
            .init(bytes: bytes, entityTag: "\"b\"", breakAfter: 3_000_000, breaks: 2, authorization: Self.basic))
        var configuration = configuration
        configuration.firstRetryDelayMilliseconds = 2_000
        configuration.longestRetryDelayMilliseconds = 2_000
        let first = try store.open()
        let before = try session(first.createSession(configuration, .consume))
        _ = try EngineTests.enqueue(before, [try store.request(origin.url("/big"), "a")])
        _ = try respond(before, try challenge(before).id, Self.right)
        #expect(waitUntil { (try? tasks(before).first?.reason) == .retry })
        first.close()
        let second = try store.open()
        defer { second.close() }
        let after = try session(second.attachSession("s", .consume))
        let open = try challenge(after)
        #expect(store.names(in: store.files).count == 1)
        _ = try respond(after, open.id, Self.right)
        #expect(ended(try eventsOfRound(after)[0])?.outcome.state == .succeeded)
        #expect(store.bytes(of: store.files + "/a") == bytes)
        #expect(origin.requests.last?.range == "bytes=3000000-")
    }
}
