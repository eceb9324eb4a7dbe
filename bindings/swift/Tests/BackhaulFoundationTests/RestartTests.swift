import Backhaul
import BackhaulFoundation
import Foundation
import FoundationNetworking
import HostTestSupport
import Testing

/// A program can *invalidate* a session, which ends the session. The test program KilledProgram ends before all
/// delegate calls for the session are made, or in the last one. The next run of KilledProgram gets the missing calls.
@Suite("Restarts of a program", .timeLimit(.minutes(10)))
struct RestartTests {
    /// Runs the program KilledProgram with the command, and then runs it with the command `again`. Returns the log of
    /// the second run.
    private func log(after command: String, _ name: String) async throws -> [String] {
        let server = try Server()
        _ = try server.serve("first", content(1000))
        _ = try server.serve("second", content(2000))
        let (program, store) = (try RestartTests.program(), server.path("store"))
        let status: Int32 = command == "leave" || command == "exit" ? 0 : -1
        #expect(try await run(program, [command, store, server.url(name)]) == status)
        #expect(try await run(program, ["again", store, server.url("second")]) == 0)
        let observer = try await Application.open("org.example.killed", store: store, observes: true)
        let daemon = try await observer.engine().processID
        await observer.close()
        // The daemon, which performs the transfers, must end before its directory, the store, is removed.
        kill(pid_t(daemon), SIGTERM)
        let text = try String(contentsOfFile: store + ".log", encoding: .utf8)
        return text.split(separator: "\n").map(String.init)
    }

    /// The path of KilledProgram. The program is in the same directory as the program that runs the tests.
    private static func program() throws -> String {
        let tests = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        return tests.deletingLastPathComponent().appendingPathComponent("KilledProgram").path
    }

    @Test("if a program is killed after finishTasksAndInvalidate, the next run gets the file and can add a task")
    func finish() async throws {
        #expect(
            try await log(after: "finish", "first") == [
                "file of 1000 bytes", "completed with no error", "file of 2000 bytes", "completed with no error",
            ])
    }

    @Test(
        "if a program ends after invalidateAndCancel, the next run gets the task's end and can add a task",
        arguments: ["cancel", "leave"])
    func cancel(command: String) async throws {
        #expect(
            try await log(after: command, "slow") == [
                "completed with error -999", "file of 2000 bytes", "completed with no error",
            ])
    }

    @Test("if a program exits in didCompleteWithError, the next run gets no delegate call for the task again")
    func exitInTheLastCall() async throws {
        #expect(try await log(after: "exit", "first") == ["file of 2000 bytes", "completed with no error"])
    }

    @Test("if a program makes a second session object with the same identifier, the standard error has a warning")
    func twice() async throws {
        let server = try Server()
        let (errors, store) = (server.path("errors"), server.path("store"))
        let words = [try RestartTests.program(), "twice", store, server.url("first")]
        #expect(try await run("/bin/sh", ["-c", "exec \"$@\" 2>'\(errors)'", "sh"] + words) == 0)
        let text = try String(contentsOfFile: errors, encoding: .utf8)
        #expect(text.hasPrefix("A background URLSession with identifier pictures already exists!"))
        #expect(text.split(separator: "\n").count == 1)
    }

    @Test(
        "if another program has removed a session, a new task is added to a new session",
        arguments: [true, false])
    func removedByAnotherHost(hasDelegate: Bool) async throws {
        let name = "removed-\(hasDelegate)"
        _ = try World.server.serve(name, content(1000))
        let (recorder, configuration) = (Recorder(), World.configuration(name))
        let session = BackgroundURLSession(
            configuration: configuration, delegate: hasDelegate ? recorder : nil, delegateQueue: nil)
        // The listing opens the session.
        #expect(await session.allTasks.isEmpty)
        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        try await application.attachSession(name, role: .produce).invalidate()
        let task = session.downloadTask(with: try World.url(name))
        task.resume()
        // Two session objects with the same identifier share one delegate: the first delegate that is not nil. So
        // `recorder` gets the calls for both arguments of this test.
        let other = BackgroundURLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        let ended = try #require(await recorder.untilCompleted())
        #expect(ended.task === task && ended.error == nil)
        other.invalidateAndCancel()
        await application.close()
    }

    @Test("if another program invalidates a session, the last file is delivered, and a new task gets a new session")
    func byAnotherHost() async throws {
        _ = World.configuration("ended")
        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        let other = try await application.createSession(SessionConfiguration(identifier: "ended"))
        _ = try World.server.serve("ended.bin", content(1000))
        _ = try await other.enqueue([Request(url: World.server.url("ended.bin"))])
        try await other.invalidate()
        other.close()
        await application.close()

        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("ended"), delegate: recorder, delegateQueue: nil)
        let task = session.downloadTask(with: try World.url("ended.bin"))
        task.resume()
        let first = try #require(await recorder.untilCompleted())
        #expect(first.task !== task && first.error == nil)
        let second = try #require(await recorder.untilCompleted())
        #expect(second.task === task && second.error == nil)
        session.invalidateAndCancel()
    }
}
