import Backhaul
import Foundation
import HostTestSupport
import Testing

/// The *engine* performs the transfers. When a session needs its program, for example because a download has ended, the
/// engine starts (*launches*) the program. Then the program handles the session's events, and *completes* the session
/// by a call of the session's completion handler.
@Suite("Launched programs", .timeLimit(.minutes(10)))
struct LaunchedProgramTests {
    @Test("a launched program completes its session, uses a new session immediately, and is launched again")
    func story() async throws {
        let start = ["launched", "called for pictures", "has the session"]
        let end = ["completed with no error", "all is delivered", "invalid with no error"]
        let expected =
            start + ["file of 1000 bytes"] + end
            + ["the old session's task: refused", "the new session's task: taken", "left"]
            + start + ["file of 2000 bytes"] + end + ["left"]
        try await run("first", second: "second") {
            $0.count > expected.count
        } verify: { log in
            // The last delegate call for the refused task logs this line. The line may come at any place after the
            // first `end`.
            let refusal = try #require(log.firstIndex(of: "completed with an error"))
            #expect(refusal > start.count + end.count)
            #expect(log[..<refusal] + log[(refusal + 1)...] == expected[...])
        }
    }

    @Test("when a server demands a credential, the program is launched, and the program's credential is used")
    func challenge() async throws {
        try await run("secret/first", second: nil) { log in
            log.contains("file of 1000 bytes") && log.count { $0 == "left" } == log.count { $0 == "launched" }
        } verify: { log in
            let asked = try #require(log.firstIndex(of: "asked for the cellar"))
            let came = try #require(log.firstIndex(of: "file of 1000 bytes"))
            #expect(log.prefix(3) == ["launched", "called for pictures", "has the session"])
            #expect(asked < came)
            #expect(log.filter { $0 == "asked for the cellar" }.count == 1)
        }
    }

    @Test("if an activity (scheduled work) does not repeat, the engine launches the program for it only once")
    func activity() async throws {
        try await run(["schedule", "nothing"]) {
            $0.last == "left"
        } verify: { log in
            #expect(log == ["scheduled", "launched", "scheduled", "swept", "left"])
        }
    }

    /// Runs the program, which enqueues a download of the server's file `first`. Reads the program's log until
    /// `isWhole` is true.
    private func run(
        _ first: String, second: String?, isWhole: ([String]) -> Bool, verify: ([String]) throws -> Void
    ) async throws {
        let server = try Server()
        _ = try server.serve("first", content(1000))
        _ = try server.serve("second", content(2000))
        let words = ["get", server.url(first), second.map { server.url($0) } ?? "nothing"]
        try await run(words, server, isWhole: isWhole, verify: verify)
    }

    /// Runs the program with these arguments, and adds the program's folder as the second argument. Reads the program's
    /// log until `isWhole` is true.
    private func run(
        _ words: [String], _ server: Server? = nil, isWhole: ([String]) -> Bool, verify: ([String]) throws -> Void
    ) async throws {
        let server = try server ?? Server()
        let folder = server.path("home")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let all = [words[0], folder] + words.dropFirst()
        #expect(try await HostTestSupport.run(LaunchedProgramTests.program(), all) == 0)

        let observer = try await Application.open("org.example.launched", store: folder + "/store", observes: true)
        var (log, launches, sessions) = ([String](), try await observer.launches(), try await observer.sessions())
        // Between the end of the first download and the start of the second one, the session has no tasks and no events
        // for a moment. Therefore, the loop also reads the log to find out whether the program has done all its work.
        for _ in 0..<15_000 {
            let text = try? String(contentsOfFile: folder + "/log", encoding: .utf8)
            log = text?.split(separator: "\n").map(String.init) ?? []
            (launches, sessions) = (try await observer.launches(), try await observer.sessions())
            let isQuiet = sessions.allSatisfy { $0.events == 0 && $0.liveTasks == 0 && $0.openChallenges == 0 }
            if isWhole(log) && isQuiet && launches.allSatisfy({ $0.state == .notNeeded }) { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        let daemon = try await observer.engine().processID
        await observer.close()
        // The daemon, which performs the transfers, must end before its directory, the store, is removed.
        kill(pid_t(daemon), SIGTERM)
        try verify(log)
        #expect(launches.map(\.state) == [.notNeeded])
        #expect(sessions.map(\.events) == [0])
        #expect(sessions.map(\.liveTasks) == [0])
        #expect(sessions.map(\.openChallenges) == [0])
    }

    /// The path of LaunchedProgram. The program is in the same directory as the program that runs the tests.
    private static func program() throws -> String {
        let tests = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        return tests.deletingLastPathComponent().appendingPathComponent("LaunchedProgram").path
    }
}
