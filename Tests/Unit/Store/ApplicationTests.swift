import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Applications in the store")
struct ApplicationTests {
    let scratch = Scratch()

    private func applications(
        _ store: TestStore, running: [SessionID: UInt64] = [:]
    ) throws -> [String: ApplicationInfo] {
        let all = try store.run { try $0.applications.all(running: running) }
        return Dictionary(uniqueKeysWithValues: all.map { ($0.identifier, $0) })
    }

    @Test("each application has the counts of all its sessions together")
    func counts() throws {
        let store = try TestStore(scratch.path)
        let photos = try store.session("gallery", of: "org.example.photos")
        let second = try store.session("videos", of: "org.example.photos")
        let other = try store.session("gallery", of: "org.example.other")
        let tasks = try store.enqueue([.numbered(1), .numbered(2)], in: photos)
        try store.enqueue([.numbered(3)], in: second)
        try store.enqueue([.numbered(4)], in: other)
        try store.end(tasks[0])
        let found = try applications(store, running: [photos: 1, second: 1])
        var expected = ApplicationInfo(identifier: "org.example.photos")
        (expected.sessions, expected.liveTasks, expected.runningTasks, expected.events) = (2, 2, 2, 1)
        #expect(found["org.example.photos"] == expected)
        #expect(found["org.example.other"]?.runningTasks == 0)
        #expect(found.count == 2)
    }

    @Test("an application without sessions is listed while it has a launch command")
    func launchCommand() throws {
        let store = try TestStore(scratch.path)
        try store.run { try $0.launches.set(LaunchCommand(program: "/bin/true"), of: "org.example.mail") }
        var expected = ApplicationInfo(identifier: "org.example.mail")
        expected.hasLaunchCommand = true
        #expect(try applications(store) == ["org.example.mail": expected])
        try store.run { try $0.launches.set(nil, of: "org.example.mail") }
        #expect(try applications(store).isEmpty)
    }

    @Test("tasks that ended after the running tasks were counted do not count as running")
    func ended() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let tasks = try store.enqueue([.numbered(1), .numbered(2)], in: session)
        try store.end(tasks[0])
        let info = try #require(
            try applications(store, running: [session: 2, SessionID(rawValue: 999): 1])["org.example"])
        #expect((info.liveTasks, info.runningTasks) == (1, 1))
    }
}
