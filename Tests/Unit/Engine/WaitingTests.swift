import BackhaulClient
import BackhaulModel
import BackhaulPlatform
import Testing

@Suite("Consumers that wait for a session")
struct WaitingTests {
    let store: TestStore
    let holder: ApplicationClient
    let other: ApplicationClient

    init() throws {
        store = try TestStore()
        holder = try store.open()
        other = try store.open()
    }

    private func waiting() throws -> UInt32 {
        guard case .sessions(let infos, _) = try reply(holder.sessions()) else { throw Unexpected() }
        return try #require(infos.first).waitingConsumers
    }

    private func close() {
        holder.close()
        other.close()
    }

    @Test("when the present consumer yields and closes the session, the waiting consumer gets the session")
    func yields() throws {
        defer { close() }
        let held = try session(holder.createSession(SessionConfiguration(identifier: "s"), .consume))
        let ticket = other.attachSession("s", .consume, waits: true)
        let reported = try holder.poll(until: .ofTests)
        #expect(reported.map(\.identifier) == ["s"])
        #expect(reported.first?.waitingConsumers == 1)
        #expect(try holder.poll(until: .after(milliseconds: 50)).isEmpty, "notified once")
        #expect(!ticket.isCompleted)
        held.close()
        let taken = try session(ticket)
        #expect(try waiting() == 0)
        let failure = #expect(throws: Failure.self) { try session(holder.attachSession("s", .consume)) }
        #expect(failure?.status == .inUse)
        taken.close()
    }

    @Test("waiting consumers get the session in the order of their arrival")
    func order() throws {
        defer { close() }
        let held = try session(holder.createSession(SessionConfiguration(identifier: "s"), .consume))
        let tickets = (0..<5).map { number in
            let ticket = (number.isMultiple(of: 2) ? other : holder).attachSession("s", .consume, waits: true)
            // Without this wait, the engine could read the command of a later ticket first.
            #expect(waitUntil { (try? waiting()) == UInt32(number + 1) })
            return ticket
        }
        held.close()
        for (index, ticket) in tickets.enumerated() {
            let taken = try session(ticket)
            #expect(tickets[(index + 1)...].allSatisfy { !$0.isCompleted })
            #expect(try waiting() == UInt32(4 - index))
            taken.close()
        }
    }

    @Test("a consumer stops waiting when its ticket is released")
    func release() throws {
        defer { close() }
        let held = try session(holder.createSession(SessionConfiguration(identifier: "s"), .consume))
        let ticket = other.attachSession("s", .consume, waits: true)
        #expect(waitUntil { (try? waiting()) == 1 })
        ticket.release()
        #expect(waitUntil { (try? waiting()) == 0 })
        held.close()
        try session(holder.attachSession("s", .consume)).close()
    }

    @Test("if a ticket is released while the engine grants the session, the session is free afterwards")
    func releaseAndGrant() throws {
        defer { close() }
        try session(holder.createSession(SessionConfiguration(identifier: "s"), .consume)).close()
        for _ in 0..<100 {
            let held = try session(holder.attachSession("s", .consume))
            let ticket = other.attachSession("s", .consume, waits: true)
            held.close()
            ticket.release()
            #expect(waitUntil { (try? session(holder.attachSession("s", .consume)).close()) != nil })
        }
    }

    @Test("if a ticket is released before the host takes the ticket's session, the session is free afterwards")
    func releasedUntaken() throws {
        defer { close() }
        let ticket = other.createSession(SessionConfiguration(identifier: "s"), .consume)
        #expect(waitUntil { ticket.isCompleted })
        ticket.release()
        #expect(waitUntil { (try? session(holder.attachSession("s", .consume)).close()) != nil })
        withExtendedLifetime(ticket) {}
    }

    @Test("a consumer that disconnects releases its session to a waiting consumer")
    func disconnects() throws {
        defer { close() }
        _ = try session(holder.createSession(SessionConfiguration(identifier: "s"), .consume))
        let ticket = other.createSession(SessionConfiguration(identifier: "s"), .consume, waits: true)
        #expect(waitUntil { (try? waiting()) == 1 })
        holder.close()
        guard case .session(_, isNew: false) = try outcome(ticket) else { throw Unexpected() }
    }

    @Test("when a session is removed, a waiting attach command fails, and a waiting create command succeeds")
    func removed() throws {
        defer { close() }
        let held = try session(holder.createSession(SessionConfiguration(identifier: "s"), .consume))
        let attach = other.attachSession("s", .consume, waits: true)
        let create = other.createSession(SessionConfiguration(identifier: "s"), .consume, waits: true)
        #expect(waitUntil { (try? waiting()) == 2 })
        _ = try reply(held.submit { .invalidate($0, cancelTasks: true) })
        let failure = #expect(throws: Failure.self) { try session(attach) }
        #expect(failure?.status == .notFound)
        guard case .session(_, isNew: true) = try outcome(create) else { throw Unexpected() }
    }

    @Test("a free session is granted immediately, and producers do not wait")
    func free() throws {
        defer { close() }
        _ = try session(holder.createSession(SessionConfiguration(identifier: "s"), .consume, waits: true))
        _ = try session(other.attachSession("s", .produce, waits: true))
    }

    @Test("the information about the engine is complete")
    func engine() throws {
        defer { close() }
        guard case .engine(let engine) = try reply(holder.submit(.engine)) else { throw Unexpected() }
        #expect(engine.processID == ProcessIdentity.current.processID)
        #expect(engine.version == Versions.built.library)
        #expect(!engine.isDaemon)
        #expect(engine.connections == 2)
        #expect(abs(engine.startedMilliseconds - Clock.wallMilliseconds) < 600_000)
    }
}
