import BackhaulModel
import Testing

@Suite("A download that receives a challenge")
struct DownloadCredentialTests {
    private let authChallenge = AuthenticationChallenge(challenge)

    @Test("A download that gets a challenge keeps its bytes, reads the body, and concludes with the challenge")
    func keeps() throws {
        let authChallenge = try #require(authChallenge)
        var attempt = DownloadScript(from: .kept(500), asks: true)
        attempt.after(.start, .opened(length: 500))
        attempt.expect(.head(challenge))
        attempt.expect(.received(count: 3))
        attempt.expect(.transferComplete, .releaseSlot, .conclude(.credential(authChallenge), .kept(500)))
        attempt.expect(.concluded, .closePart)
    }

    @Test(
        "A download that gets a challenge concludes even if the body is too long or the connection is lost",
        arguments: [
            DownloadMachine.Event.received(count: 50), .transferFailed(.lost, isTransient: true),
        ])
    func endless(_ event: DownloadMachine.Event) {
        var attempt = DownloadScript(asks: true)
        attempt.after(.start, .head(challenge), event)
        #expect(attempt.machine.phase == .concluding)
        attempt.expect(.concluded, .closePart)
    }

    @Test("If the host refuses the challenge of a download, the download fails and leaves no part file")
    func refused() throws {
        let authChallenge = try #require(authChallenge)
        var attempt = DownloadScript(from: .kept(500), asks: true)
        attempt.after(.start, .opened(length: 500), .head(challenge), .transferComplete)
        attempt.expect(.retryRefused, .discardPart)
        attempt.expect(.discarded, .conclude(.failed(authChallenge.failure), nil))
    }

    @Test("If the host refuses the challenge, the bytes stay for a later task with the same key")
    func refusedForNow() throws {
        let authChallenge = try #require(authChallenge)
        var terms = DownloadTerms()
        terms.isContinuable = true
        var attempt = DownloadScript(from: .kept(500), asks: true, terms: terms)
        attempt.after(.start, .opened(length: 500), .head(challenge), .transferComplete)
        attempt.expect(.retryRefused, .conclude(.failed(authChallenge.failure), .kept(500)))
        attempt.expect(.concluded, .closePart)
    }

    @Test("A response that demands a credential opens a challenge even if the request accepts its status")
    func accepted() throws {
        let authChallenge = try #require(authChallenge)
        var terms = DownloadTerms()
        terms.acceptedStatuses = try #require(StatusList("200-599"))
        var attempt = DownloadScript(asks: true, terms: terms)
        attempt.after(.start, .head(challenge))
        attempt.expect(.transferComplete, .releaseSlot, .conclude(.credential(authChallenge), nil))
    }

    @Test("If the session passes no challenges to the host, a download that gets a challenge fails at once")
    func off() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(challenge))
        attempt.expect(.transferComplete, .releaseSlot, .discardPart)
    }

    @Test("A download that uses no proxy fails after a 407 response")
    func withoutProxy() {
        var attempt = DownloadScript(asks: true)
        attempt.after(.start, .head(head(407, "Proxy-Authenticate: Basic realm=\"x\"")))
        attempt.expect(.transferComplete, .releaseSlot, .discardPart)
    }
}
