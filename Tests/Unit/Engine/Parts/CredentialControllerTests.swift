import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulModel
@testable import BackhaulStore

@Suite("Tasks and their credentials")
struct CredentialControllerTests {
    let world = PartWorld()
    var credentials: CredentialController { world.credentials }
    let space = ProtectionSpace(kind: .server, origin: "https://example.org:443", realm: "private")

    private var challenge: Challenge {
        Challenge(
            id: ChallengeID(rawValue: 9), space: space, schemes: .basic, failures: 0, timeMilliseconds: 0,
            waitingTasks: 1)
    }

    /// Another task of the lane has got a 401, and its challenge is in the store.
    private func meetChallenge() {
        let demand = AuthenticationDemand(space: space, schemes: .basic, scope: "/")
        _ = credentials.met(demand, world.task(8))
        _ = credentials.settled(space, challenge.id, PartWorld.session)
    }

    private func startable(_ tasks: [StoredTask]) -> [UInt64] { credentials.admit(tasks).startable.map(\.id.rawValue) }

    /// The challenge of the first task is in the store, so the second task may open its own.
    @Test("that need a new URL get a challenge each")
    func refusedAddresses() {
        let (first, second) = (world.task(1), world.task(2))
        let spaces = [first, second].map { RefreshNeed.space(.url, of: $0.id, origin: $0.origin.text) }
        for (space, task) in zip(spaces, [first, second]) {
            _ = credentials.met(AuthenticationDemand(refreshing: space), task)
        }
        _ = credentials.settled(spaces[0], ChallengeID(rawValue: 9), PartWorld.session)
        #expect(credentials.mayOpen(spaces[1], of: PartWorld.session))
    }

    @Test("start when there is no challenge")
    func open() {
        #expect(startable([world.task(1), world.task(2)]) == [1, 2])
        #expect(world.runtime.pendingStoreCalls == 0)
    }

    @Test("wait in the store for an open challenge, and their lane is loaded again")
    func parked() throws {
        meetChallenge()
        #expect(startable([world.task(1)]).isEmpty)
        try world.runtime.storeReturns(nil as Int64?)
        #expect(world.runtime.takeEffects().waiting == [[1]])
    }

    @Test("that the store cannot write as waiting are loaded again later")
    func storeFails() throws {
        meetChallenge()
        _ = startable([world.task(1)])
        try world.runtime.storeReturns(Result<Int64?, Failure>.failure(Failure(.storeFull, "no space")))
        #expect(world.runtime.takeEffects().contains { if case .reloadLater = $0 { true } else { false } })
    }

    @Test("start once the host has given a credential")
    func responded() {
        meetChallenge()
        let response = ChallengeResponse.credential(user: "u", password: "p")
        let effects = credentials.responded(to: challenge, response, AnswerLife(), PartWorld.session)
        #expect(effects.contains { if case .schedule = $0 { true } else { false } })
        #expect(startable([world.task(1)]) == [1])
    }

    @Test("of a removed session do not wait")
    func forgotten() {
        meetChallenge()
        credentials.forget(PartWorld.session)
        #expect(startable([world.task(1)]) == [1])
    }
}
