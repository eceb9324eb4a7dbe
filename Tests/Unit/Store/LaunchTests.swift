import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulStore

@Suite("Launches in the store")
struct LaunchTests {
    let scratch = Scratch()
    let application = "org.example"

    private var command: LaunchCommand {
        var command = LaunchCommand(program: "/usr/bin/photos")
        command.arguments = ["--ready", "", "ü \" $HOME"]
        command.environment = ["A=1", "B=x=y"]
        command.workingDirectory = "/srv"
        command.attachTimeoutMilliseconds = 1
        command.firstDelayMilliseconds = 2
        command.longestDelayMilliseconds = 3
        command.maximumLaunches = 4
        return command
    }

    private func finishRound(_ store: TestStore, _ name: String, number: Int) throws -> SessionID {
        let session = try store.session(name)
        try store.end(try store.enqueue([.numbered(number)], in: session)[0])
        return session
    }

    private func begin(_ store: TestStore) throws -> StoredLaunch? {
        try store.run { [application] transaction in
            try transaction.launches.begin(
                of: application, secret: .max, backoff: LaunchBackoff(launches: 1, dueAt: 99), now: 5)
        }
    }

    private func register(_ store: TestStore, _ command: LaunchCommand?) throws {
        try store.run { [application] transaction in
            try transaction.launches.set(command, of: application)
        }
    }

    private func stored(_ store: TestStore) throws -> StoredLaunch? {
        try store.run { [application] transaction in try transaction.launches.find(application) }
    }

    @Test("a launch command is stored; a new command keeps the current launch and resets the backoff")
    func commands() throws {
        let store = try TestStore(scratch.path)
        try register(store, command)
        #expect(try stored(store) == StoredLaunch(application: application, command: command))
        _ = try finishRound(store, "gallery", number: 1)
        let launch = try #require(try begin(store))
        try register(store, LaunchCommand(program: "/usr/bin/other"))
        let after = try #require(try stored(store))
        #expect(after.command == LaunchCommand(program: "/usr/bin/other"))
        #expect(after.current == launch.current)
        #expect(after.backoff == LaunchBackoff())
        try register(store, nil)
        #expect(try stored(store) == nil)
    }

    @Test("a launch lists only the sessions that need a host")
    func lists() throws {
        let store = try TestStore(scratch.path)
        try register(store, command)
        #expect(try begin(store) == nil)
        _ = try store.session("idle")
        let quiet = try finishRound(store, "quiet", number: 1)
        try store.run { transaction in
            var configuration = try transaction.sessions.configuration(of: quiet)
            configuration.sendsLaunchEvents = false
            try transaction.sessions.update(quiet, configuration)
        }
        _ = try finishRound(store, "b", number: 2)
        _ = try finishRound(store, "a", number: 3)
        #expect(try begin(store) != nil)
        let listed = try store.run { [application] transaction in
            try transaction.launches.sessions(of: application).map(\.identifier)
        }
        #expect(listed == ["a", "b"])
    }

    @Test("the ids of launches grow and are never used twice")
    func numbers() throws {
        let store = try TestStore(scratch.path)
        try register(store, command)
        _ = try finishRound(store, "gallery", number: 1)
        let ids = try (0..<3).map { _ in try begin(store)?.current?.token.id.rawValue }
        #expect(ids == [1, 2, 3])
    }

    @Test("after a session is completed, a launch lists the session only if the session has unacknowledged events")
    func completes() throws {
        let store = try TestStore(scratch.path)
        try register(store, command)
        let session = try finishRound(store, "gallery", number: 1)
        _ = try begin(store)
        let complete = { [application] in
            try store.run { transaction in
                let completion = try transaction.launches.complete(session, in: application)
                let hasSessions = try transaction.launches.hasSessions(of: application)
                return [completion.wasLaunched, completion.isWaiting, hasSessions]
            }
        }
        #expect(try complete() == [true, true, true])
        try store.acknowledge(session, .through(EventID(rawValue: 2)))
        #expect(try complete() == [true, false, false])
        #expect(try complete() == [false, false, false])
    }

    @Test("the completion of a session adds no other session to the launch")
    func completesOne() throws {
        let store = try TestStore(scratch.path)
        try register(store, command)
        let session = try finishRound(store, "gallery", number: 1)
        _ = try begin(store)
        _ = try finishRound(store, "later", number: 2)
        let listed = try store.run { [application] transaction in
            _ = try transaction.launches.complete(session, in: application)
            return try transaction.launches.sessions(of: application).map(\.identifier)
        }
        #expect(listed == ["gallery"])
    }

    @Test("after a reboot, a launch has no process, is due immediately, and keeps its count of launches")
    func anotherBoot() throws {
        let saved = try beforeAnotherBoot()
        let reopened = try #require(try stored(try TestStore(scratch.path)))
        #expect(reopened.backoff == LaunchBackoff(launches: 1, dueAt: nil))
        #expect(reopened.current?.process == nil)
        #expect(reopened.current?.unit == nil)
        #expect(reopened.current?.token == saved.current?.token)
    }

    /// Stores a launch with a running host, and closes the store. The stored boot id is changed, as if the computer had
    /// rebooted.
    private func beforeAnotherBoot() throws -> StoredLaunch {
        let store = try TestStore(scratch.path)
        try register(store, command)
        _ = try finishRound(store, "gallery", number: 1)
        var launch = try #require(try begin(store))
        launch.current?.process = .current
        launch.current?.unit = "photos.service"
        let saved = launch
        try store.run { transaction in
            try transaction.launches.save(saved)
            try transaction.connection.execute("UPDATE meta SET value = 'another' WHERE key = 'boot_id'")
        }
        store.close()
        return saved
    }
}
