import Backhaul
import Foundation
import TestSupport
import Testing

@Suite("Hosting and launches")
struct LaunchTests {
    let server: Server

    init() throws { server = try Server() }

    private func open(launch: LaunchCommand? = nil) async throws -> Application {
        try await Application.open(
            "org.example.tests", store: server.path("store"), hosting: .embedded, launch: launch)
    }

    @Test("an application returns the process, hosting, store and connections of its engine")
    func engine() async throws {
        let application = try await open()
        let engine = try await application.engine()
        #expect(engine.processID == Int64(ProcessInfo.processInfo.processIdentifier))
        #expect(engine.hosting == .embedded)
        #expect(engine.store == server.path("store"))
        #expect(engine.connections == 1)
        await application.close()
    }

    @Test("a launch command is listed as registered, is replaced by the next one, and is removed by nil")
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
        #expect(registered.state == .none)

        try await application.setLaunch(LaunchCommand(program: "/usr/bin/false"))
        #expect(try await application.launches().map(\.program) == ["/usr/bin/false"])
        try await application.setLaunch(nil)
        #expect(try await application.launches().isEmpty)
        await application.close()
    }

    @Test("a launch command is refused if its program is a relative path or a variable's name has a '='")
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

    @Test("a program that was not launched has no current launch")
    func noLaunch() async throws {
        let application = try await open()
        #expect(try await application.currentLaunch() == nil)
        await application.close()
    }

    @Test("if the daemon does not exist, the application is not opened, and the error has the daemon's path")
    func absentDaemon() async throws {
        let path = server.path("no-daemon")
        let error = await #expect(throws: BackhaulError.self) {
            try await Application.open("org.example.tests", store: server.path("store"), daemon: path)
        }
        #expect(error?.status == .daemonUnavailable)
        #expect(error?.message.contains(path) == true)
    }
}
