import Backhaul
import Foundation
import HostTestSupport
import Testing

/// The tasks wait until the program responds to the challenge.
@Suite("Challenges", .timeLimit(.minutes(10)))
struct ChallengeTests: EmbeddedTests {
    let server: Server

    init() throws { server = try Server() }

    private func session(_ application: Application) async throws -> Session {
        var configuration = SessionConfiguration(identifier: "s")
        configuration.asksForCredentials = true
        return try await application.createSession(configuration)
    }

    private func challenge(_ session: Session) async throws -> Challenge {
        for try await event in session.events {
            if case .challenge(let event) = event { return try #require(event.challenge) }
            Issue.record("\(event) came before the challenge.")
        }
        throw CancellationError()
    }

    @Test("several tasks share one challenge, and all of them continue with one credential")
    func credential() async throws {
        let application = try await open()
        let session = try await session(application)
        _ = try server.serve("a", content(10))
        try await session.enqueue(
            (0..<3).map {
                Request(url: server.url("secret/a"), destination: server.path("file-\($0)"))
            })
        let challenge = try await challenge(session)
        #expect(challenge.kind == .server)
        #expect(challenge.realm == "cellar")
        #expect(challenge.schemes == [.basic, .bearer])
        #expect(challenge.origin == "http://127.0.0.1:\(server.port)")
        #expect(try await session.challenges().map(\.id) == [challenge.id])
        try await session.respond(to: challenge, with: .credential(user: "eve", password: "opensesame"))
        var ended = 0
        for try await event in session.events {
            try await session.acknowledge(event)
            if case .taskEnded(let task) = event {
                #expect(task.path != nil)
                ended += 1
            }
            if case .sessionFinished = event { break }
        }
        #expect(ended == 3)
        #expect(try await session.challenges().isEmpty)
        await application.close()
    }

    @Test("if the program refuses a challenge, the waiting task fails, and a second response is not accepted")
    func refusal() async throws {
        let application = try await open()
        let session = try await session(application)
        try await session.download(server.url("secret/a"), to: server.path("a"))
        try await session.respond(to: try await challenge(session), with: .refuse)
        for try await event in session.events {
            guard case .taskEnded(let task) = event else { continue }
            guard case .failed(let error) = task.outcome else {
                Issue.record("The task ended as \(task.outcome).")
                break
            }
            #expect(error.status == .authenticationRequired)
            break
        }
        let error = await #expect(throws: BackhaulError.self) {
            let bearer = Header(name: "Authorization", value: "Bearer x")
            try await session.respond(toChallenge: ChallengeID(rawValue: 1), with: .headers([bearer]))
        }
        #expect(error?.status == .notFound)
        await application.close()
    }
}
