import Backhaul
import BackhaulTesting
import Foundation
import Testing

@Suite("The test kit for hosts", .timeLimit(.minutes(5)))
struct StoryTests {
    /// The path of StoryProgram, which is in the same directory as the program that runs the tests.
    private let program: String = {
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return tests.deletingLastPathComponent().appendingPathComponent("StoryProgram").path
    }()

    @Test("a killed host's download finishes without it, it is launched, needs a credential, and is launched again")
    func story() async throws {
        let testbed = try Testbed()
        let first = try testbed.serve("/1.jpg", Array("a picture".utf8))
        let second = try testbed.serve("/2.jpg", Array("a private picture".utf8))
        first.stall(at: 4)
        second.require(user: "me", password: "secret")
        let host = try testbed.start(program, [first.url, second.url, testbed.directory])
        try await first.waitForBytes(4)
        host.kill()
        testbed.pass(.seconds(1))  // the daemon waits a second for a killed host to come back
        first.release()
        try await testbed.launched().wait()
        try await testbed.launched().wait()
        #expect(FileManager.default.contents(atPath: testbed.directory + "/2.jpg") == Data("a private picture".utf8))
        #expect(second.requests.map(\.status) == [401, 200])
    }

    @Test(
        "a daemon dies with the downloaded file, the power fails, and the task ends", arguments: Testbed.Point.allCases)
    func deaths(point: Testbed.Point) async throws {
        let testbed = try Testbed()
        let file = try testbed.serve("/1.jpg", Array("a picture".utf8))
        let application = try await testbed.application("org.example.test")
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        testbed.killDaemon(at: point)
        let task = try await session.download(file.url, to: testbed.directory + "/1.jpg", key: "1")
        if point != .acknowledged { try await testbed.waitForDeath() }
        #expect(testbed.daemonDied == (point != .acknowledged))
        try testbed.failPower()
        #expect(try await session.ending(of: task).path == testbed.directory + "/1.jpg")
        await application.close()
    }

    @Test("a text with a NUL character is refused, because C would end it there")
    func texts() throws {
        let testbed = try Testbed()
        #expect(throws: BackhaulError.self) { try testbed.serve("/file\0.jpg", []) }
        #expect(throws: BackhaulError.self) { try testbed.start("/bin/true", ["a\0b"]) }
        #expect(throws: BackhaulError.self) { try Testbed(directory: testbed.directory + "\0") }
    }

    @Test("a time-out that is longer than any wait is shortened")
    func longTimeout() async throws {
        let testbed = try Testbed()
        let file = try testbed.serve("/file", Array("content".utf8))
        try await file.waitForRequests(0, timeout: .seconds(Int64.max))
    }

    @Test("two hours of Retry-After pass at once")
    func clock() async throws {
        let testbed = try Testbed()
        let file = try testbed.serve("/file", Array("content".utf8))
        file.refuse(503, headers: ["Retry-After": "7200"])
        let application = try await testbed.application("org.example.test")
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        let task = try await session.download(file.url, to: testbed.directory + "/file")
        try await file.waitForRequests(1)
        testbed.pass(.seconds(7_200))
        #expect(try await session.ending(of: task).path == testbed.directory + "/file")
        #expect(file.requests.map(\.status) == [503, 200])
        await application.close()
    }
}
