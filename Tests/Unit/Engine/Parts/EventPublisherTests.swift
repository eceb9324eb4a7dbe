import BackhaulModel
import BackhaulStore
import Testing

@testable import BackhaulEngine

/// An *announcement* is a message to a client, and reports new events of a session.
@Suite("Announcements of events")
struct EventPublisherTests {
    let runtime = FakeRuntime()
    let clients = ClientRegistry()
    let publisher: EventPublisher
    let session = SessionID(rawValue: 1)

    init() { publisher = EventPublisher(runtime, clients) }

    private func change(newest: UInt64) -> Change {
        Change(
            session: session, application: "org.example", identifier: "photos",
            newestEvent: EventID(rawValue: newest))
    }

    @Test("each client of the application gets one announcement for all events of a loop iteration")
    func oncePerIteration() {
        let (client, stranger) = (FakeClient(clients), FakeClient(clients, application: "org.other"))
        publisher.announce(change(newest: 1))
        publisher.announce(change(newest: 3))
        #expect(client.notices.isEmpty)
        runtime.endIteration()
        #expect(client.notices == [.event(identifier: "photos", newest: EventID(rawValue: 3))])
        #expect(stranger.notices.isEmpty)
    }

    @Test("an announcement is sent before the reply to the command that made the event")
    func beforeReply() {
        let client = FakeClient(clients)
        publisher.announce(change(newest: 1))
        _ = publisher.flushAnnouncements()
        #expect(client.notices.count == 1)
        runtime.endIteration()
        #expect(client.notices.isEmpty)
    }

    @Test("a change without events is not announced")
    func withoutEvents() {
        let client = FakeClient(clients)
        publisher.announce(change(newest: 0))
        runtime.endIteration()
        #expect(client.notices.isEmpty)
    }

    @Test("a consumer with credit gets the announced events, even if they must be read from the database")
    func readsAhead() throws {
        let client = FakeClient(clients)
        client.attach(1, session)
        clients.setConsumer(of: session, client.address(1))
        publisher.granted(
            client.connection, HandleID(rawValue: 1), EventCredit(after: .zero))
        publisher.announce(change(newest: 1))
        runtime.endIteration()
        #expect(runtime.pendingStoreCalls == 1)
        let event = Event(id: EventID(rawValue: 1), round: 1, timeMilliseconds: 0, kind: .sessionFinished)
        try runtime.storeReturns((events: [event], more: false))
        let pushed = client.notices.compactMap { if case .events(_, _, _, let events) = $0 { events } else { nil } }
        #expect(pushed.flatMap(\.self) == [event])
    }

    @Test("after an event for a consumer in another process, the engine checks whether SIGSTOP stopped the process")
    func stoppedConsumer() {
        let client = FakeClient(clients)
        client.attach(1, session)
        publisher.announce(change(newest: 1))
        runtime.endIteration()
        let named = runtime.takeEffects().compactMap { if case .eventFor(let id) = $0 { id } else { nil } }
        #expect(named == [client.id])
    }
}
