import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Uploads that are abandoned")
struct AbandonedUploadTests {
    let store: TestStore
    let scratch = Scratch()
    let session: SessionID
    let task: TaskID
    let resource = UploadResource(.tus, url: "http://a/u/1", offset: 7, longestAppend: 1 << 20)

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
        let field = HeaderField("Upload-Metadata", "x")
        let ids = try store.enqueue(
            [
                .numbered(1) {
                    $0.headers = [field]; $0.options.body = .bytes([1, 2, 3])
                    $0.options.policy.refusesPrivateAddresses = true
                }
            ], in: session)
        task = ids[0]
        _ = try store.run { [resource, task] in try $0.uploads.record(resource, of: task, now: 1) }
    }

    private func abandoned() throws -> [AbandonedUpload] {
        try store.run { try $0.uploads.abandoned(after: "", limit: 9).map(\.upload) }
    }

    @Test("the resource of an upload has the protocol that made it")
    func recorded() throws {
        let stored = try store.run { [task] in try $0.tasks.find(task) }
        #expect(stored?.task.uploadResource == resource)
    }

    @Test("the record of an attempt has the resource, too, because an earlier record of the resource may have failed")
    func attempt() throws {
        var record = AttemptRecord(attempts: 1, attemptsWithoutProgress: 0, bytesReceived: 0)
        record.uploadResource = UploadResource(.tus, url: "http://a/u/1", offset: 9)
        try store.run { [task, record] transaction in
            _ = try transaction.uploads.record(nil, of: task, now: 1)
            try transaction.attempts.record(task, record)
        }
        let stored = try store.run { [task] in try $0.tasks.find(task) }
        #expect(stored?.task.uploadResource == record.uploadResource)
    }

    @Test("a limit of 0 bytes in a damaged row is no limit")
    func damaged() throws {
        try store.run { transaction in
            try transaction.connection.run(Query("UPDATE upload_resources SET longest_append = 0"))
        }
        let stored = try store.run { [task] in try $0.tasks.find(task) }
        #expect(stored?.task.uploadResource == UploadResource(.tus, url: "http://a/u/1", offset: 7))
    }

    @Test(
        "the end of an upload abandons its resource, except if it has succeeded",
        arguments: [TaskState.succeeded, .failed, .cancelled])
    func ended(state: TaskState) throws {
        let change = try store.end(task, Outcome(state: state))
        #expect(change?.abandonsUploads == (state != .succeeded))
        let urls = try abandoned().map(\.url)
        #expect(urls == (state == .succeeded ? [] : ["http://a/u/1"]))
    }

    @Test(
        "a resource that becomes known after the end of its upload is abandoned, except if the upload has succeeded",
        arguments: [TaskState.succeeded, .failed, .cancelled])
    func late(state: TaskState) throws {
        try store.end(task, Outcome(state: state))
        let late = UploadResource(.tus, url: "http://a/u/2")
        let isAbandoned = try store.run { [task] in try $0.uploads.record(late, of: task, now: 1) }
        #expect(isAbandoned == (state != .succeeded))
        #expect(try abandoned().map(\.url).contains("http://a/u/2") == isAbandoned)
        let resource = try store.run { [task] transaction in try transaction.tables.uploads.resource(of: task) }
        #expect(resource == nil)
    }

    @Test("an abandoned upload keeps what a request for its removal needs, also after its task was acknowledged")
    func kept() throws {
        #expect(try store.control(session, .cancel).abandonsUploads)
        try store.acknowledge(session, .through(try store.events(of: session).last?.id ?? .zero))
        let upload = try #require(try abandoned().first)
        #expect(upload.uploadProtocol == .tus && upload.session == session)
        #expect(upload.requestURL.hasSuffix("/1") && upload.headers.map(\.name) == ["Upload-Metadata"])
        #expect(upload.refusesPrivateAddresses == true)
        try store.run { try $0.uploads.forget(upload) }
        #expect(try abandoned() == [])
    }

    @Test("an abandoned upload has the headers that the host gave in place of expired ones")
    func refreshed() throws {
        let id = try store.enqueue(
            [
                .numbered(2) {
                    $0.headers = [HeaderField("Authorization", "old"), HeaderField("Accept", "x")]
                    $0.options.body = .bytes([1])
                    $0.options.refresh = .headers
                }
            ], in: session)[0]
        try store.run { [id] transaction in
            guard let lane = try transaction.tables.tasks.lane(of: id) else { return }
            let challenge = ChallengeID(rawValue: 1)
            let refreshed = RefreshedRequest(challenge: challenge, headers: [HeaderField("authorization", "new")])
            try transaction.tables.refreshes.writeHeaders(refreshed, challenge: challenge, of: lane, through: id)
            _ = try transaction.uploads.record(UploadResource(.tus, url: "http://a/u/2"), of: id, now: 1)
        }
        try store.control(session, .cancel)
        let upload = try #require(try abandoned().first { $0.url == "http://a/u/2" })
        #expect(upload.headers.map(\.value) == ["x", "new"])
    }

    @Test("an abandoned upload has the URL and headers that its task took from a response or got for one request")
    func effective() throws {
        let refreshed = RefreshedRequest(challenge: ChallengeID(rawValue: 1), headers: [HeaderField("X-Two", "2")])
        try store.run { [task] transaction in
            var values = TakenValues()
            (values.url, values.headers) = ("https://other.example/1", [HeaderField("X-One", "1")])
            try transaction.tables.dependencies.write(values, of: task)
            try transaction.tables.refreshes.writeRequest(refreshed, of: task)
        }
        try store.control(session, .cancel)
        let upload = try #require(try abandoned().first)
        #expect(upload.requestURL == "https://other.example/1" && upload.isCrossOrigin)
        #expect(upload.headers.map(\.name) == ["X-One", "X-Two"])
    }

    @Test("abandoned uploads of a session that does not exist any more are forgotten")
    func withoutSession() throws {
        try store.control(session, .cancel)
        try store.run { [session] in _ = try $0.sessions.invalidate(session, cancelTasks: true, now: 1) }
        try store.acknowledge(session, .through(try store.events(of: session).last?.id ?? .zero))
        #expect(try abandoned() == [])
    }

    @Test("uploads that are forgotten, or whose protocol is unknown, do not hide those that follow")
    func pages() throws {
        try store.control(session, .cancel)
        try store.run { transaction in
            for url in ["http://a/0", "http://a/1", "http://a/2"] {
                try transaction.tables.connection.run(
                    Query(
                        """
                        INSERT INTO abandoned_uploads SELECT '\(url)', 99, upload_protocol, request_url, headers,
                            taken_url, taken_headers, refreshed_url, refreshed_headers, s3_endpoint, s3_region,
                            s3_profile, s3_credential_command, s3_path_style, refuses_private_addresses, abandoned_ms
                        FROM abandoned_uploads LIMIT 1
                        """))
            }
        }
        let found = try store.run { try $0.uploads.abandoned(after: "", limit: 2).map(\.upload.url) }
        #expect(found == ["http://a/u/1"])
    }
}
