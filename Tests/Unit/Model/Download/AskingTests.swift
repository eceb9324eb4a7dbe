import BackhaulModel
import Testing

@Suite("A challenged download")
struct AskingTests {
    private let demand = AuthenticationDemand(challenge)

    @Test("keeps its bytes, reads the response's body, and concludes with the challenge")
    func keeps() throws {
        let demand = try #require(demand)
        var attempt = Attempt(from: .kept(500), asks: true)
        attempt.after(.start, .opened(length: 500))
        attempt.when(.head(challenge))
        attempt.when(.received(count: 3))
        attempt.when(.transferComplete, .releaseSlot, .conclude(.credential(demand), .kept(500)))
        attempt.when(.concluded, .closePart)
    }

    @Test("concludes when the body is too long or the connection is lost", arguments: [
        DownloadMachine.Event.received(count: 50), .transferFailed(.lost, isTransient: true),
    ])
    func endless(_ event: DownloadMachine.Event) {
        var attempt = Attempt(asks: true)
        attempt.after(.start, .head(challenge), event)
        #expect(attempt.machine.phase == .concluding)
        attempt.when(.concluded, .closePart)
    }

    @Test("fails when the challenge is refused, and leaves no part file")
    func refused() throws {
        let demand = try #require(demand)
        var attempt = Attempt(from: .kept(500), asks: true)
        attempt.after(.start, .opened(length: 500), .head(challenge), .transferComplete)
        attempt.when(.retryRefused, .discardPart)
        attempt.when(.discarded, .conclude(.failed(demand.failure), nil))
    }

    @Test("fails at once when its session opens no challenges")
    func off() {
        var attempt = Attempt()
        attempt.after(.start, .head(challenge))
        attempt.when(.transferComplete, .releaseSlot, .discardPart)
    }

    @Test("fails on a 407 without a proxy")
    func withoutProxy() {
        var attempt = Attempt(asks: true)
        attempt.after(.start, .head(head(407, "Proxy-Authenticate: Basic realm=\"x\"")))
        attempt.when(.transferComplete, .releaseSlot, .discardPart)
    }
}
