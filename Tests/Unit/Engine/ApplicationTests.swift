import BackhaulClient
import BackhaulEngine
import BackhaulModel
import Testing

@Suite("The applications of a store")
struct ApplicationTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
    }

    private func applications(_ client: ApplicationClient) throws -> [ApplicationInfo] {
        guard case .applications(let found) = try reply(client.submit(.applications)) else { throw Unexpected() }
        return found
    }

    @Test("a running task and the connected processes count, and the handles of observers do not")
    func counts() throws {
        origin.serve("/a", .init(bytes: pattern(500_000), bytesPerSecond: 10_000))
        let engine = try FakeConditionsEngine(store)
        defer { engine.stop() }
        let host = try engine.session(.named { _ in })
        _ = try host.enqueue(store.request(origin.url("/a"), "a"))
        var options = ApplicationOptions(application: "a.tool", storePath: store.store, hosting: .embedded)
        options.isObserver = true
        let observer = try ApplicationClient.open(options, until: .ofTests)
        defer { observer.close() }
        let second = try store.open("z.example")
        defer { second.close() }
        let third = try store.open("z.example")
        defer { third.close() }
        #expect(waitUntil { (try? applications(observer).first?.runningTasks) == 1 })
        let found = try applications(observer)
        #expect(found.map(\.identifier) == ["org.example.test", "z.example"])
        var expected = ApplicationInfo(identifier: "org.example.test")
        (expected.sessions, expected.liveTasks, expected.runningTasks, expected.hosts) = (1, 1, 1, 1)
        #expect(found.first == expected)
        #expect(found.last?.hosts == 1)
    }

    @Test("an application without sessions is no longer listed when its host has gone")
    func leaving() throws {
        let first = try store.open("a.example")
        let second = try store.open("z.example")
        defer { second.close() }
        #expect(try applications(second).map(\.identifier) == ["a.example", "z.example"])
        first.close()
        #expect(waitUntil { (try? applications(second).map(\.identifier)) == ["z.example"] })
    }
}
