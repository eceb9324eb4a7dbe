import Backhaul
import Foundation
import HostTestSupport
import Testing

/// The *engine* performs the transfers. In these tests, it runs in a daemon, which is a process of its own.
@Suite("Stopped engines", .timeLimit(.minutes(10)))
struct StoppedEngineTests {
    @Test("while the engine's process is stopped, a call fails at the application's time-out; later, calls succeed")
    func stopped() async throws {
        let server = try Server()
        let application = try await Application.open(
            "org.example.tests", store: server.path("store"), timeout: .seconds(10))
        let daemon = pid_t(try await application.engine().processID)
        // The daemon must end before its directory, the store, is removed.
        defer {
            kill(daemon, SIGCONT)
            kill(daemon, SIGTERM)
        }
        // After a call, the application's thread wakes up several times a second for a while. The pause is longer.
        try await Task.sleep(for: .milliseconds(700))
        kill(daemon, SIGSTOP)
        while try StoppedEngineTests.state(of: daemon) != "T" { await Task.yield() }
        let error = await #expect(throws: BackhaulError.self) { try await application.sessions() }
        #expect(error?.status == .engineUnresponsive)
        kill(daemon, SIGCONT)
        #expect(try await application.sessions().isEmpty)
        await application.close()
    }

    @Test("while the engine's process is stopped, an open with a launch command fails, even if its time-out is zero")
    func registration() async throws {
        let server = try Server()
        let application = try await Application.open("org.example.tests", store: server.path("store"))
        let daemon = pid_t(try await application.engine().processID)
        // The daemon must end before its directory, the store, is removed.
        defer {
            kill(daemon, SIGCONT)
            kill(daemon, SIGTERM)
        }
        kill(daemon, SIGSTOP)
        while try StoppedEngineTests.state(of: daemon) != "T" { await Task.yield() }
        let error = await #expect(throws: BackhaulError.self) {
            try await Application.open(
                "org.example.tests", store: server.path("store"), launch: LaunchCommand(program: "/usr/bin/true"),
                timeout: .zero)
        }
        #expect(error?.status == .engineUnresponsive || error?.status == .timeout)
        kill(daemon, SIGCONT)
        await application.close()
    }

    /// The state of a process, as in proc_pid_stat(5).
    private static func state(of process: pid_t) throws -> Character? {
        try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8).split(separator: ")").last?
            .first { $0 != " " }
    }
}
