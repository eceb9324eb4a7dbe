import BackhaulClient
import BackhaulModel
import Glibc
import Testing

@Suite("Events of a poll whose ticket is released are handed out when the host has them, and not before")
struct PollTicketTests {
    let store: TestStore
    let application: ApplicationClient
    let session: SessionClient

    /// One task has ended, and the client knows of its event.
    init() throws {
        store = try TestStore()
        application = try store.open()
        session = try EngineTests.session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        let task = try enqueue(session, [try store.request("http://127.0.0.1:1/", "a")])[0].task
        _ = try answer(session.control(.cancel, TaskSelection(ids: [task])))
        let descriptor = session.eventDescriptor
        #expect(waitUntil { isReadable(descriptor) })
    }

    private func events(_ ticket: Ticket) throws -> [Event] {
        guard case .events(let events, _) = try answer(ticket) else { throw Unexpected() }
        return events
    }

    @Test("read before: nothing tells of them again")
    func read() throws {
        defer { application.close() }
        let ticket = session.poll(after: .zero, maximum: 10)
        #expect(try events(ticket).count == 2)
        ticket.release(isRead: true)
        #expect(!isReadable(session.eventDescriptor))
        #expect(!isReadable(application.eventDescriptor))
    }

    @Test("not read: the descriptors tell of them again, and the next poll has them")
    func unread() throws {
        defer { application.close() }
        let ticket = session.poll(after: .zero, maximum: 10)
        let lost = try events(ticket)
        #expect(!isReadable(session.eventDescriptor))
        ticket.release()
        #expect(isReadable(session.eventDescriptor))
        #expect(isReadable(application.eventDescriptor))
        #expect(try events(session.poll(after: .zero, maximum: 10)) == lost)
        #expect(!isReadable(session.eventDescriptor))
    }

    @Test("not answered yet: the same, once the answer has come")
    func unanswered() throws {
        defer { application.close() }
        #expect(try events(session.poll(after: .zero, maximum: 10)).count == 2)
        // From the beginning again, which only the store can answer.
        session.poll(after: .zero, maximum: 10).release()
        // The store answers in order.
        _ = try answer(application.sessions())
        #expect(isReadable(session.eventDescriptor))
        #expect(try events(session.poll(after: .zero, maximum: 10)).count == 2)
    }
}
