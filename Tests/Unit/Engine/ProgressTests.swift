import BackhaulClient
import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

/// A handle can *watch* the progress of the session's tasks.
@Suite("Progress of tasks, as a host receives it")
struct ProgressTests {
    let store: TestStore
    let origin: TestOrigin
    let application: ApplicationClient
    let session: SessionClient

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
        application = try store.open()
        var configuration = SessionConfiguration(identifier: "s")
        configuration.firstRetryDelayMilliseconds = 86_400_000
        configuration.longestRetryDelayMilliseconds = 86_400_000
        session = try EngineTests.session(application.createSession(configuration, .consume))
    }

    @Test("the last progress of a task shows its final state")
    func ends() throws {
        defer { application.close() }
        origin.serve("/a", .init(bytes: pattern(400_000), entityTag: nil))
        let descriptor = try session.progressDescriptor()
        #expect(try reply(session.watchProgress(intervalMilliseconds: 100)).isDone)
        #expect(!isReadable(descriptor))
        let task = try enqueue(session, [try store.request(origin.url("/a"), "a")])[0].task
        let last = try progress(of: session, until: .succeeded)
        #expect(
            last
                == Progress(
                    task: task, state: .succeeded, reason: .none, offset: 400_000, size: 400_000, bytesPerSecond: 0))
        #expect(!isReadable(descriptor))
    }

    @Test("if a task waits for a retry, its last progress has the state `waiting` and the reached offset")
    func waits() throws {
        defer { application.close() }
        origin.serve("/b", .init(bytes: pattern(3_000_000), entityTag: "\"b\"", breakAfter: 2_000_000, breaks: 9))
        _ = try reply(session.watchProgress(intervalMilliseconds: 100))
        _ = try enqueue(session, [try store.request(origin.url("/b"), "b")])
        let last = try progress(of: session, until: .waiting)
        #expect(last?.reason == .retry)
        #expect(last?.offset == 2_000_000)
    }

    @Test("after a handle has stopped watching, it gets no progress")
    func unwatched() throws {
        defer { application.close() }
        origin.serve("/a", .init(bytes: pattern(1_000), entityTag: nil))
        _ = try reply(session.watchProgress(intervalMilliseconds: 100))
        _ = try reply(session.watchProgress(intervalMilliseconds: 0))
        _ = try enqueue(session, [try store.request(origin.url("/a"), "a")])
        _ = try eventsOfRound(session)
        #expect(try session.pollProgress(until: .after(milliseconds: 300)).isEmpty)
    }

    @Test("an observer may watch progress")
    func observer() throws {
        defer { application.close() }
        let observed = try EngineTests.session(application.attachSession("s", .observe))
        _ = try reply(observed.watchProgress(intervalMilliseconds: 100))
        origin.serve("/a", .init(bytes: pattern(1_000), entityTag: nil))
        _ = try enqueue(session, [try store.request(origin.url("/a"), "a")])
        #expect(try observed.pollProgress(until: .ofTests).last != nil)
    }
}

extension Reply {
    fileprivate var isDone: Bool { if case .done = self { true } else { false } }
}
