@testable import BackhaulClient
import BackhaulModel
import BackhaulPlatform
import Testing

@Suite("A host is notified of each session that needs attention")
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
        _ = try reply(session.control(.cancel, TaskSelection(ids: [task])))
    }

    @Test("of two sessions whose identifiers differ only in Unicode form, only the one with unread events is reported")
    func similarIdentifier() throws {
        defer { application.close() }
        let names = ["caf\u{E9}", "cafe\u{301}"]
        let sessions = try names.map {
            try session(application.createSession(SessionConfiguration(identifier: $0), .consume))
        }
        for session in sessions { try endRound(session) }
        #expect(try eventsOfRound(sessions[1]).count == 2)
        // The host has read the newer events of the second session, but not the older events of the first session.
        let reported = try application.poll(until: .ofTests)
        #expect(reported.map { Array($0.identifier.utf8) } == [Array(names[0].utf8)])
    }

    @Test("a listing has all sessions, also if they do not fit in one reply")
    func pages() throws {
        defer { application.close() }
        let names = (0...Limits.batchCount).map { "session \($0)" }
        for start in stride(from: 0, to: names.count, by: 200) {
            let tickets = names[start..<min(start + 200, names.count)].map {
                application.createSession(SessionConfiguration(identifier: $0), .observe)
            }
            for ticket in tickets { try session(ticket).close() }
        }
        guard case .sessions(let infos, false) = try reply(application.sessions()) else { throw Unexpected() }
        #expect(infos.map(\.identifier) == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }

    @Test(
        "a poll returns if a session was removed and created again, and only the removed session had new events",
        .timeLimit(.minutes(5)))
    func createdAgain() throws {
        defer { application.close() }
        _ = try session(application.createSession(SessionConfiguration(identifier: "s"), .observe))
        application.state.change { $0.record("s", newest: EventID(rawValue: 100)) }
        #expect(isReadable(application.eventDescriptor))
        #expect(try application.poll(until: .after(milliseconds: 0)).isEmpty)
        #expect(!isReadable(application.eventDescriptor))
    }
}

/// A host notices that sessions need attention, and then lists the sessions. A session that is missing in the listing
/// was removed. Meanwhile, the host may create the session again.
@Suite("Attention for a session that is missing in a listing")
struct RemovedSessionTests {
    @Test("a session that is missing in the listing needs no attention any more")
    func gone() {
        var attention = Attention()
        attention.record("s", newest: EventID(rawValue: 5))
        attention.recordYieldRequest("s")
        attention.reported(attention.unreported, [])
        #expect(!attention.hasUnreported)
    }

    @Test("if a session is created again before the listing, it needs no attention for events of the removed session")
    func createdBefore() {
        var attention = Attention()
        attention.record("s", newest: EventID(rawValue: 5))
        let info = SessionInfo(
            identifier: "s", round: 0, liveTasks: 0, events: 0, hasFinishedRound: false, isInvalidating: false,
            consumer: 0, createdMilliseconds: 0, newestEvent: .zero)
        attention.reported(attention.unreported, [info])
        #expect(!attention.hasUnreported)
    }

    @Test("if a session is created again after the listing, it still needs attention for new events")
    func createdAgain() {
        var attention = Attention()
        attention.record("s", newest: EventID(rawValue: 5))
        let unreported = attention.unreported
        attention.record("s", newest: EventID(rawValue: 9))
        attention.reported(unreported, [])
        #expect(attention.hasUnreported)
    }

    @Test("if a session is created again after the listing, it still needs attention for waiting consumers")
    func waitedFor() {
        var attention = Attention()
        attention.record("s", newest: EventID(rawValue: 5))
        let unreported = attention.unreported
        attention.recordYieldRequest("s")
        attention.reported(unreported, [])
        #expect(attention.hasUnreported)
    }
}
