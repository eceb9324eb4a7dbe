import Backhaul
import Foundation
import TestSupport
import Testing

@Suite("Progress", .timeLimit(.minutes(10)))
struct ProgressTests {
    let server: Server

    init() throws { server = try Server() }

    private func open() async throws -> Application {
        try await Application.open("org.example.tests", store: server.path("store"), hosting: .embedded)
    }

    @Test("the progress of a task is returned while the task runs")
    func progress() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        let id = try await session.download(server.url("slow"), to: server.path("slow"))
        var last: UInt64 = 0
        for try await reading in session.progress(every: .milliseconds(100)) where reading.offset > 0 {
            #expect(reading.taskID == id)
            #expect(reading.size == 1_000_000_000)
            #expect(reading.offset >= last)
            if last > 0 && reading.offset > last { break }
            last = reading.offset
        }
        #expect(last > 0)
        await application.close()
    }

    @Test("if the interval between progress readings is too short, the interval is refused")
    func badInterval() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        let error = await #expect(throws: BackhaulError.self) {
            try await session.progress(every: .milliseconds(1)).first { _ in true }
        }
        #expect(error?.status == .invalidArgument)
        await application.close()
    }
}
