import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("Consumers that wait for a session")
struct SessionClaimsTests {
    let runtime = FakeRuntime()
    let clients = ClientRegistry()
    let claims: SessionClaims
    let name = NamedSession(application: "org.example", identifier: "photos")
    static let inUse = Result<OpenedSession, Failure>.failure(Failure(.inUse, "another consumes it"))

    init() { claims = SessionClaims(runtime, clients) }

    private func opening(_ client: FakeClient, _ handle: UInt64 = 1) -> SessionOpening {
        SessionOpening(
            address: client.address(handle), sequence: handle, name: name, role: .consume,
            open: { (_, _, _) throws(Failure) in throw Failure(.internal, "a fake store runs nothing") })
    }

    private func opened() -> Result<OpenedSession, Failure> {
        .success(
            OpenedSession(
                id: SessionID(rawValue: 1), isNew: false, configuration: SessionConfiguration(identifier: "photos"),
                newestEvent: .zero, unacknowledged: 0, isInvalidating: false))
    }

    /// Returns the handles that got the session, in order.
    private func openings() -> [HandleAddress] {
        runtime.takeEffects().compactMap { if case .opened(_, let opening, _) = $0 { opening.address } else { nil } }
    }

    @Test("waiting consumers get the session in the order of their arrival")
    func order() throws {
        let (first, second) = (FakeClient(clients), FakeClient(clients))
        claims.wait(opening(first))
        claims.wait(opening(second))
        #expect(claims.count(of: name) == 2)
        claims.released(name)
        try runtime.storeReturns(opened())
        #expect(openings() == [first.address(1)])
        claims.released(name)
        try runtime.storeReturns(opened())
        #expect(openings() == [second.address(1)])
        #expect(claims.count(of: name) == 0)
    }

    @Test("a waiting consumer requests a yield, or tries every second to open the session of a disconnected consumer")
    func yields() throws {
        let (consumer, waiting) = (FakeClient(clients), FakeClient(clients))
        consumer.attach(1, SessionID(rawValue: 1))
        claims.wait(opening(waiting))
        #expect(consumer.notices == [.yield(identifier: "photos")])
        runtime.advance(milliseconds: 5_000)
        #expect(runtime.pendingStoreCalls == 0)
        _ = clients.remove(consumer.id)
        claims.requestYield(name)
        runtime.advance(milliseconds: 1_000)
        try runtime.storeReturns(Self.inUse)
        runtime.advance(milliseconds: 1_000)
        try runtime.storeReturns(opened())
        #expect(openings() == [waiting.address(1)])
    }

    @Test("if the session is still in use, a waiting consumer keeps its position in the queue")
    func staysFirst() throws {
        let (first, second) = (FakeClient(clients), FakeClient(clients))
        claims.wait(opening(first))
        claims.wait(opening(second))
        claims.released(name)
        try runtime.storeReturns(Self.inUse)
        #expect(openings().isEmpty)
        claims.released(name)
        try runtime.storeReturns(opened())
        #expect(openings() == [first.address(1)])
    }

    @Test("if a consumer stops waiting while the store opens its session, the wait fails and the session is released")
    func givesUp() throws {
        let client = FakeClient(clients)
        claims.wait(opening(client))
        claims.released(name)
        claims.stopWaiting(client.address(1))
        #expect(client.replies == [.failed(SessionClaims.cancelledWait)])
        try runtime.storeReturns(opened())
        #expect(openings().isEmpty)
        // The pending call to the store (the database) releases the session.
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("a waiting consumer leaves the queue when its connection ends")
    func disconnects() {
        let client = FakeClient(clients)
        claims.wait(opening(client))
        claims.stopWaiting(client.id)
        #expect(claims.count(of: name) == 0)
    }

    @Test("after a restart of the engine, waiting consumers retry when the old claims expire")
    func absentClients() throws {
        let client = FakeClient(clients)
        claims.startReconnectTimer()
        runtime.advance(milliseconds: 9_999)
        #expect(runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 1)
        let consumer = FakeClient(clients)
        consumer.attach(1, SessionID(rawValue: 1))
        claims.wait(opening(client))
        try runtime.storeReturns([ClientID.random()])
        #expect(claims.awaitsClients)
        try runtime.storeReturns(())
        #expect(!claims.awaitsClients)
        try runtime.storeReturns(opened())
        #expect(openings() == [client.address(1)])
    }

    @Test("a client that connects before the store can release its claims keeps them")
    func returnedClient() throws {
        let absent = FakeClient(clients)
        let client = try #require(absent.connection.hello?.client)
        _ = clients.remove(absent.id)
        claims.release([client], of: "org.example")
        try runtime.storeReturns(Result<Void, Failure>.failure(Failure(.storeFull, "the disk is full")))
        clients.add(absent.connection)
        for case .retryLater(let retry) in runtime.takeEffects() { retry() }
        #expect(runtime.pendingStoreCalls == 0)
    }

    @Test("after claims were released, the launches of their application are checked")
    func launchAfterRelease() throws {
        claims.release([.random()], of: "org.example")
        try runtime.storeReturns(())
        let checked = runtime.takeEffects().compactMap { if case .checkLaunches(let name) = $0 { name } else { nil } }
        #expect(checked == ["org.example"])
    }

    @Test("a waiting consumer gets each failure except `inUse` as its reply")
    func fails() throws {
        let client = FakeClient(clients)
        claims.wait(opening(client))
        claims.released(name)
        try runtime.storeReturns(Result<OpenedSession, Failure>.failure(Failure(.notFound, "no such session")))
        #expect(client.replies == [.failed(Failure(.notFound, "no such session"))])
        #expect(claims.count(of: name) == 0)
    }
}
