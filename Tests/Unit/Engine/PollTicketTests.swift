import BackhaulClient
import BackhaulModel
import Glibc
import Testing

@Suite("Events of a poll whose ticket is released")
struct PollTicketTests {
    let store: TestStore
    let application: ApplicationClient
    let session: SessionClient

    /// Cancels one task, and waits until the client has the notice of the task's event.
    init() throws {
        store = try TestStore()
        application = try store.open()
        session = try EngineTests.session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        let task = try enqueue(session, [try store.request("http://127.0.0.1:1/", "a")])[0].task
        _ = try reply(session.control(.cancel, TaskSelection(ids: [task])))
        let descriptor = session.eventDescriptor
        #expect(waitUntil { isReadable(descriptor) })
    }

    private func events(_ ticket: Ticket) throws -> [Event] {
        guard case .events(let events, _) = try reply(ticket) else { throw Unexpected() }
        return events
    }

    @Test("after the ticket of a poll is released, events that the host has read are not announced again")
    func read() throws {
        defer { application.close() }
        let ticket = session.poll(after: .zero, maximum: 10)
        #expect(try events(ticket).count == 2)
        try ticket.take()
        ticket.release()
        #expect(!isReadable(session.eventDescriptor))
        #expect(!isReadable(application.eventDescriptor))
    }

    @Test("after the ticket of a poll is released, unread events are announced again, and the next poll returns them")
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

    @Test("the result of a ticket can be taken one time, and not after the release; the failure states which it was")
    func refused() throws {
        defer { application.close() }
        let ticket = session.poll(after: .zero, maximum: 10)
        _ = try events(ticket)
        try ticket.take()
        #expect(throws: Failure(.wrongState, "the ticket's result was taken already")) { try ticket.take() }
        ticket.release()
        #expect(throws: Failure(.wrongState, "the ticket was released")) { try ticket.take() }
    }

    @Test("if the ticket of an unfinished poll is released, the poll's events are announced when the reply arrives")
    func unanswered() throws {
        defer { application.close() }
        #expect(try events(session.poll(after: .zero, maximum: 10)).count == 2)
        // The poll above took the events out of the client's memory. So this poll must request the events from the
        // engine. This poll has no reply yet when its ticket is released.
        session.poll(after: .zero, maximum: 10).release()
        // The engine replies in order, so the reply to the poll arrives before the reply to `sessions`.
        _ = try reply(application.sessions())
        #expect(isReadable(session.eventDescriptor))
        #expect(try events(session.poll(after: .zero, maximum: 10)).count == 2)
    }
}
