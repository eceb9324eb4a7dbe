import BackhaulClient
import BackhaulDisk
import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@Suite("Downloads, from enqueue to acknowledgement")
struct DownloadTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
    }

    @Test("a small file is downloaded, and its event comes before the event of the round's end")
    func smallFile() throws {
        origin.serve("/a", .init(bytes: pattern(1_000), entityTag: "\"1\""))
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        _ = try enqueue(session, [try store.request(origin.url("/a"), "a")])
        let events = try eventsOfRound(session)
        #expect(events.count == 2)
        let task = try #require(ended(events[0]))
        #expect(task.outcome.state == .succeeded)
        #expect(task.outcome.size == 1_000)
        #expect(store.bytes(of: store.files + "/a") == pattern(1_000))
        #expect(store.names(in: store.files) == ["a"])
        guard case .count(2) = try reply(session.acknowledge(.through(events[1].id))) else { throw Unexpected() }
        guard case .events(let left, let more) = try reply(session.poll(after: .zero, maximum: 10)) else {
            throw Unexpected()
        }
        #expect(left.isEmpty && !more)
    }

    @Test("after a lost connection, a download resumes at its offset with If-Range")
    func continued() throws {
        let bytes = pattern(5_000_000)
        origin.serve("/b", .init(bytes: bytes, entityTag: "\"b\"", breakAfter: 3_000_000, breaks: 1))
        let application = try store.open()
        defer { application.close() }
        var configuration = SessionConfiguration(identifier: "s")
        configuration.firstRetryDelayMilliseconds = 1
        let session = try session(application.createSession(configuration, .consume))
        _ = try enqueue(session, [try store.request(origin.url("/b"), "b")])
        let events = try eventsOfRound(session)
        #expect(ended(events[0])?.outcome.state == .succeeded)
        #expect(store.bytes(of: store.files + "/b") == bytes)
        let requests = origin.requests
        #expect(requests.count == 2)
        #expect(requests.last?.range == "bytes=3000000-")
        #expect(requests.last?.ifRange == "\"b\"")
    }

    @Test("if the server ignores ranges, a download fails after three retries that bring only bytes already stored")
    func refetched() throws {
        var resource = TestOrigin.Resource(
            bytes: pattern(3_000_000), entityTag: "\"b\"", breakAfter: 2_000_000, breaks: 100)
        resource.ignoresRange = true
        origin.serve("/b", resource)
        let application = try store.open()
        defer { application.close() }
        var configuration = SessionConfiguration(identifier: "s")
        configuration.firstRetryDelayMilliseconds = 1
        configuration.maximumAttempts = 3
        let session = try session(application.createSession(configuration, .consume))
        _ = try enqueue(session, [try store.request(origin.url("/b"), "b")])
        let task = try #require(ended(try eventsOfRound(session)[0]))
        #expect(task.outcome.failure?.status == .connectionLost)
        // The first attempt stored new bytes. The three later attempts did not.
        #expect(origin.requests.count == 4)
        #expect(task.outcome.attempts == 4)
    }

    @Test("a download with status 404 leaves no file, and its event has the status and the start of the body")
    func missing() throws {
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        _ = try enqueue(session, [try store.request(origin.url("/nowhere"), "n")])
        let task = try #require(ended(try eventsOfRound(session)[0]))
        #expect(task.outcome.state == .failed)
        #expect(task.outcome.failure?.status == .httpStatus)
        #expect(task.outcome.failure?.detail == 404)
        #expect(task.outcome.response.errorBody == Array("nothing".utf8))
        #expect(store.names(in: store.files).isEmpty)
    }

    @Test("a part file that could not be removed when its download failed is removed by the next engine")
    func leftPart() throws {
        var resource = TestOrigin.Resource(
            bytes: pattern(5_000_000), entityTag: "\"a\"", bytesPerSecond: 100_000)
        origin.serve("/a", resource)
        let first = try store.open()
        let session = try session(first.createSession(SessionConfiguration(identifier: "s"), .consume))
        _ = try enqueue(session, [try store.request(origin.url("/a"), "a")])
        #expect(waitUntil { !store.names(in: store.files).isEmpty })
        let part = try #require(store.names(in: store.files).first)
        _ = try reply(session.control(.suspend, TaskSelection()))
        // unlink(2) of a directory fails with EISDIR.
        #expect(rename(store.files + "/" + part, store.path + "/part") == 0)
        #expect(mkdir(store.files + "/" + part, 0o700) == 0)
        resource.status = 404
        origin.serve("/a", resource)
        _ = try reply(session.control(.resume, TaskSelection()))
        #expect(ended(try eventsOfRound(session)[0])?.outcome.failure?.detail == 404)
        first.close()
        #expect(rmdir(store.files + "/" + part) == 0)
        #expect(rename(store.path + "/part", store.files + "/" + part) == 0)
        let second = try store.open()
        defer { second.close() }
        #expect(waitUntil { store.names(in: store.files).isEmpty })
    }

    @Test("three hundred files of different sizes are downloaded completely, and each has one event")
    func many() throws {
        var requests: [Request] = []
        for index in 0..<300 {
            let bytes = pattern(index * 997, UInt8(index & 0xFF))
            origin.serve("/\(index)", .init(bytes: bytes, entityTag: "\"\(index)\""))
            requests.append(try store.request(origin.url("/\(index)"), "\(index)"))
        }
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        let items = try enqueue(session, requests)
        #expect(items.allSatisfy { $0.disposition == .new })
        let events = try eventsOfRound(session)
        #expect(events.count == 301)
        #expect(Set(events.compactMap { ended($0)?.id }) == Set(items.map(\.task)))
        #expect(events.compactMap(ended).allSatisfy { $0.outcome.state == .succeeded })
        for index in 0..<300 {
            #expect(store.bytes(of: store.files + "/\(index)") == pattern(index * 997, UInt8(index & 0xFF)))
        }
    }

    @Test("unacknowledged events are delivered again after the application is reopened")
    func eventsWait() throws {
        origin.serve("/a", .init(bytes: pattern(10), entityTag: nil))
        let first = try store.open()
        let before = try session(first.createSession(SessionConfiguration(identifier: "s"), .consume))
        _ = try enqueue(before, [try store.request(origin.url("/a"), "a")])
        let events = try eventsOfRound(before)
        first.close()
        let second = try store.open()
        defer { second.close() }
        let after = try session(second.attachSession("s", .consume))
        #expect(try eventsOfRound(after) == events)
    }

    @Test("a claim can be repeated for the same path; an unclaimed kept file is removed when its event is acknowledged")
    func kept() throws {
        origin.serve("/k", .init(bytes: pattern(99), entityTag: nil))
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        let items = try enqueue(session, [Request(url: origin.url("/k")), Request(url: origin.url("/k"))])
        let events = try eventsOfRound(session)
        var checker = DestinationCheck()
        let destination = try checker.check(path: store.files + "/claimed", ifExists: .fail)
        _ = try reply(session.submit { .claim($0, items[0].task, destination, .fail) })
        _ = try reply(session.submit { .claim($0, items[0].task, destination, .fail) })
        #expect(store.bytes(of: store.files + "/claimed") == pattern(99))
        _ = try reply(session.acknowledge(.through(try #require(events.last).id)))
        #expect(waitUntil { store.names(in: store.store + "/kept").isEmpty })
    }
}
