import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulModel
@testable import BackhaulStore

/// A *parked* task waits until the host has responded to a challenge. To *load* a lane is to read its next tasks from
/// the store, which is the database.
@Suite("Tasks and their credentials")
struct CredentialControllerTests {
    let fixture = EngineFixture()
    var credentials: CredentialController { fixture.credentials }
    let space = ProtectionSpace(kind: .server, origin: "https://example.org:443", realm: "private")

    private var challenge: Challenge {
        Challenge(
            id: ChallengeID(rawValue: 9), space: space, schemes: .basic, failures: 0, timeMilliseconds: 0,
            waitingTasks: 1)
    }

    /// Lets another task of the lane get the status 401, and stores the challenge of that task.
    private func meetChallenge() {
        let authChallenge = AuthenticationChallenge(space: space, schemes: .basic, scope: "/")
        _ = credentials.noteChallenge(authChallenge, fixture.task(8))
        _ = credentials.commitChallenge(space, challenge.id, EngineFixture.session)
    }

    private func startable(_ tasks: [StoredTask]) -> [UInt64] { credentials.admit(tasks).startable.map(\.id.rawValue) }

    /// The stored challenge of the first task does not prevent a challenge of the second task.
    @Test("each task that needs a new URL gets its own challenge")
    func refusedAddresses() {
        let (first, second) = (fixture.task(1), fixture.task(2))
        let spaces = [first, second].map { RefreshPolicy.space(.url, of: $0.id, origin: $0.origin.text) }
        for (space, task) in zip(spaces, [first, second]) {
            _ = credentials.noteChallenge(AuthenticationChallenge(refreshing: space), task)
        }
        _ = credentials.commitChallenge(spaces[0], ChallengeID(rawValue: 9), EngineFixture.session)
        let decision = credentials.decideParking(of: second, for: spaces[1], sent: nil)
        if case .refused = decision { Issue.record("the second task gets no challenge") }
    }

    @Test("tasks start when there is no challenge")
    func open() {
        #expect(startable([fixture.task(1), fixture.task(2)]) == [1, 2])
        #expect(fixture.runtime.pendingStoreCalls == 0)
    }

    @Test("while a challenge is open, a task is parked in the store, and the task's lane is loaded again")
    func parked() throws {
        meetChallenge()
        #expect(startable([fixture.task(1)]).isEmpty)
        try fixture.runtime.storeReturns(nil as Int64?)
        #expect(fixture.runtime.takeEffects().waiting == [[1]])
    }

    @Test("if the store cannot park a task, the task's lane is loaded again later")
    func storeFails() throws {
        meetChallenge()
        _ = startable([fixture.task(1)])
        try fixture.runtime.storeReturns(Result<Int64?, Failure>.failure(Failure(.storeFull, "no space")))
        #expect(fixture.runtime.takeEffects().contains { if case .reloadLater = $0 { true } else { false } })
    }

    @Test("parked tasks may start after the host has given a credential")
    func responded() {
        meetChallenge()
        let response = ChallengeResponse.credential(user: "u", password: "p")
        let effects = credentials.responded(to: challenge, response, CredentialLifetime(), EngineFixture.session)
        #expect(effects.contains { if case .schedule = $0 { true } else { false } })
        #expect(startable([fixture.task(1)]) == [1])
    }

    @Test("tasks of a removed session do not wait for a credential")
    func forgotten() {
        meetChallenge()
        credentials.forget(EngineFixture.session)
        #expect(startable([fixture.task(1)]) == [1])
    }
}
