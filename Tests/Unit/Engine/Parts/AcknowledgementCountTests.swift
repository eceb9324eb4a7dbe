import BackhaulModel
import Testing

@testable import BackhaulEngine

/// A host acknowledges events that it has processed. The engine counts the acknowledged ids for each handle, which is
/// the host's reference to a session.
@Suite("The count of acknowledged ids")
struct AcknowledgementCountTests {
    let client = FakeClient(ClientRegistry())

    init() {
        client.attach(1, SessionID(rawValue: 1))
        client.attach(2, SessionID(rawValue: 2), "music")
    }

    private func record(_ acknowledgement: Acknowledgement, _ handle: UInt64 = 1) -> UInt64 {
        client.connection.recordAcknowledgement(acknowledgement, by: HandleID(rawValue: handle)).count
    }

    private func includesNewest(_ acknowledgement: Acknowledgement) -> Bool {
        client.connection.recordAcknowledgement(acknowledgement, by: HandleID(rawValue: 1)).includesNewest
    }

    private func through(_ id: UInt64) -> Acknowledgement { .through(EventID(rawValue: id)) }

    @Test("a host that acknowledges through an id acknowledges the ids since its last acknowledgement")
    func sinceTheLast() {
        // Without an earlier acknowledgement, the number is unknown.
        #expect(record(through(100)) == 0)
        #expect(record(through(101)) == 1)
        #expect(record(.ids([EventID(rawValue: 105), EventID(rawValue: 102)])) == 2)
        #expect(record(through(109)) == 4)
        // The host has already acknowledged these events.
        #expect(record(through(50)) == 0)
        #expect(record(through(110)) == 1)
    }

    @Test("acknowledged ids are counted separately for each handle")
    func handles() {
        _ = record(through(100))
        #expect(record(through(100), 2) == 0)
        #expect(record(through(120)) == 20)
        #expect(record(through(120), 3) == 0)
    }

    @Test("the engine knows whether an acknowledgement includes the session's newest event")
    func newest() throws {
        var pushCredit = try #require(client.connection.handles[HandleID(rawValue: 1)]).pushCredit
        pushCredit.advance(newest: EventID(rawValue: 12))
        client.connection.update(HandleID(rawValue: 1), pushCredit)
        #expect(!includesNewest(through(11)))
        #expect(!includesNewest(.ids([EventID(rawValue: 10), EventID(rawValue: 11)])))
        #expect(includesNewest(through(12)))
        #expect(includesNewest(.ids([EventID(rawValue: 12), EventID(rawValue: 3)])))
    }
}
