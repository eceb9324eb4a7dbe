@testable import BackhaulClient
import BackhaulModel
import BackhaulPlatform
import Testing

@Suite("An application is notified of each session that needs attention")
struct AttentionTests {
    let store: TestStore
    let application: ApplicationClient

    init() throws {
        store = try TestStore()
        application = try store.open()
    }

    private func endRound(_ session: SessionClient) throws {
        let name = "file-\(session.identifier.utf8.count)"
        let task = try enqueue(session, [try store.request("http://127.0.0.1:1/", name)])[0].task
        _ = try answer(session.control(.cancel, TaskSelection(ids: [task])))
    }

    @Test("also of one with a similar identifier")
    func looksTheSame() throws {
        defer { application.close() }
        let names = ["caf\u{E9}", "cafe\u{301}"]
        let sessions = try names.map {
            try session(application.createSession(SessionConfiguration(identifier: $0), .consume))
        }
        for session in sessions { try endRound(session) }
        #expect(try eventsOfRound(sessions[1]).count == 2)
        // The events of the first session are older than those that were read, and still unread.
        let told = try application.poll(until: .ofTests)
        #expect(told.map { Array($0.identifier.utf8) } == [Array(names[0].utf8)])
    }
}

@Suite("A session that a listing does not contain")
struct AttentionOfTheGoneTests {
    @Test("has no pending attention any more")
    func gone() {
        var attention = Attention()
        attention.learn("s", newest: EventID(rawValue: 5))
        attention.learnYield("s")
        attention.told(attention.untold, [])
        #expect(!attention.hasUntold)
    }

    @Test("keeps its attention if it was created afterwards")
    func madeAnew() {
        var attention = Attention()
        attention.learn("s", newest: EventID(rawValue: 5))
        let untold = attention.untold
        attention.learn("s", newest: EventID(rawValue: 9))
        attention.told(untold, [])
        #expect(attention.hasUntold)
    }

    @Test("keeps the attention for waiting consumers if it was created afterwards")
    func waitedFor() {
        var attention = Attention()
        attention.learn("s", newest: EventID(rawValue: 5))
        let untold = attention.untold
        attention.learnYield("s")
        attention.told(untold, [])
        #expect(attention.hasUntold)
    }
}
