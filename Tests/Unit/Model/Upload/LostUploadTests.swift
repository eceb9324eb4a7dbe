import BackhaulModel
import Testing

@Suite("Uploads that servers lose")
struct LostUploadTests {
    private func decision(_ method: String, losses: UInt32) -> RetryDecision {
        var attempt = FailedAttempt(Failure(.badResponse, "the upload is lost"))
        attempt.hasLostUpload = true
        attempt.method = method
        attempt.consecutiveFailures = losses - 1
        var configuration = SessionConfiguration(identifier: "s")
        configuration.policy.retryErrors = .nothing
        return RetryDecision.decide(attempt, TransferPolicy(configuration), jitter: 0)
    }

    @Test("a lost upload starts again, whatever retry_errors is, but not after three losses in a row")
    func losses() {
        for losses in 1...2 as ClosedRange<UInt32> {
            guard case .later(_, losses) = decision("PUT", losses: losses) else {
                Issue.record("\(losses): \(decision("PUT", losses: losses))")
                continue
            }
        }
        #expect(decision("PUT", losses: 3) == .end)
    }

    @Test("a POST on which the server may have acted does not start again")
    func post() {
        #expect(decision("POST", losses: 1) == .end)
    }
}
