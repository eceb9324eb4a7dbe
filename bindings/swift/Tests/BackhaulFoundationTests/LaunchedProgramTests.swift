import Backhaul
import Foundation
import TestSupport
import Testing

@Suite("A program that the daemon launches")
struct LaunchedProgramTests {
    @Test("is called once for its session, hears all, completes, may begin again at once, and is launched again")
    func story() async throws {
        let server = try Server()
        let folder = server.path("home")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let first = try server.serve("first", content(1000))
        let second = try server.serve("second", content(2000))

        let program = Process()
        program.executableURL = try LaunchedProgramTests.program()
        program.arguments = ["get", folder, first, second]
        try program.run()
        program.waitUntilExit()
        #expect(program.terminationStatus == 0)

        let told = ["launched", "called for pictures"]
        let end = ["completed with no error", "all is delivered", "invalid with no error"]
        let expected =
            told + ["file of 1000 bytes"] + end
            + ["the old session's task: refused", "the new session's task: taken", "left"]
            + told + ["file of 2000 bytes"] + end + ["left"]
        var log: [String] = []
        for _ in 0..<1500 where log.count < expected.count {
            try await Task.sleep(for: .milliseconds(20))
            let text = try? String(contentsOfFile: folder + "/log", encoding: .utf8)
            log = text?.split(separator: "\n").map(String.init) ?? []
        }
        #expect(log == expected)

        let onlooker = try await Application.open("org.example.launched", store: folder + "/store", observes: true)
        #expect(try await onlooker.launches().map(\.state) == [.none])
        let session = try #require(try await onlooker.sessions().first)
        #expect(session.events == 0)
        #expect(session.liveTasks == 0)
        let daemon = try await onlooker.engine().processID
        await onlooker.close()
        // Not left to find out that its store is gone.
        kill(pid_t(daemon), SIGTERM)
    }

    /// Beside the program that runs the tests.
    private static func program() throws -> URL {
        let tests = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        return tests.deletingLastPathComponent().appendingPathComponent("LaunchedProgram")
    }
}
