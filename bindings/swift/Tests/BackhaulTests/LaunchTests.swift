import Backhaul
import Foundation
import HostTestSupport
import Testing

/// The *engine* runs the tasks. *Hosting* is where the engine runs: in a daemon or in this process. When a session
/// needs its program, the engine can *launch* the program: it runs the program's launch command.
@Suite("Hosting and launches", .timeLimit(.minutes(10)))
struct LaunchTests {
    let server: Server

    init() throws { server = try Server() }

    private func open(launch: LaunchCommand? = nil) async throws -> Application {
        try await Application.open(
            "org.example.tests", store: server.path("store"), hosting: .embedded, launch: launch)
    }

    @Test("an application returns its engine's process id, kind of hosting, store and number of connections")
    func engine() async throws {
        let application = try await open()
        let engine = try await application.engine()
        #expect(engine.processID == Int64(ProcessInfo.processInfo.processIdentifier))
        #expect(engine.hosting == .embedded)
        #expect(engine.store == server.path("store"))
        #expect(engine.connections == 1)
        await application.close()
    }

    @Test("a registered launch command is listed, the next command replaces it, and nil removes it")
    func launchCommand() async throws {
        let variables = ["A": "b=c", "EMPTY": ""]
        var command = LaunchCommand(
            program: "/usr/bin/true", arguments: ["--again", "ä"], environment: variables, workingDirectory: "/tmp")
        command.firstDelay = .seconds(5)
        let application = try await open(launch: command)
        let launches = try await application.launches()
        #expect(launches.count == 1)
        let registered = try #require(launches.first)
        #expect(registered.application == "org.example.tests")
        #expect(registered.program == command.program)
        #expect(registered.arguments == command.arguments)
        #expect(registered.environment == variables)
        #expect(registered.workingDirectory == "/tmp")
        #expect(registered.state == .notNeeded)

        try await application.setLaunch(LaunchCommand(program: "/usr/bin/false"))
        #expect(try await application.launches().map(\.program) == ["/usr/bin/false"])
        try await application.setLaunch(nil)
        #expect(try await application.launches().isEmpty)
        await application.close()
    }

    @Test("a launch command with a relative program path, or with a '=' in a variable's name, is refused")
    func badLaunchCommand() async throws {
        let application = try await open()
        let relative = await #expect(throws: BackhaulError.self) {
            try await application.setLaunch(LaunchCommand(program: "true"))
        }
        #expect(relative?.status == .invalidArgument)
        let variable = await #expect(throws: BackhaulError.self) {
            try await application.setLaunch(LaunchCommand(program: "/usr/bin/true", environment: ["a=b": "c"]))
        }
        #expect(variable?.status == .invalidArgument)
        await application.close()
    }

    @Test("if the engine has not launched this program, the program has no current launch")
    func noLaunch() async throws {
        let application = try await open()
        #expect(try await application.currentLaunch() == nil)
        await application.close()
    }

    @Test("if the daemon's file does not exist, opening an application fails, and the error has the file's path")
    func absentDaemon() async throws {
        let path = server.path("no-daemon")
        let error = await #expect(throws: BackhaulError.self) {
            try await Application.open("org.example.tests", store: server.path("store"), daemon: path)
        }
        #expect(error?.status == .daemonUnavailable)
        #expect(error?.message.contains(path) == true)
    }
}
