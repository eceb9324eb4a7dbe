import BackhaulModel
import Testing

@Suite("Uploads that servers lose")
struct LostUploadTests {
    private func lost(_ method: String, losses: UInt32, failures: UInt32 = 0) -> FailedAttempt {
        var attempt = FailedAttempt(Failure(.badResponse, "the upload is lost"))
        attempt.hasLostUpload = true
        attempt.method = method
        attempt.repeats.lost = losses - 1
        attempt.consecutiveFailures = losses - 1 + failures
        return attempt
    }

    private func decision(_ attempt: FailedAttempt) -> RetryDecision {
        var configuration = SessionConfiguration(identifier: "s")
        configuration.policy.retryErrors = .nothing
        return RetryDecision.decide(attempt, TransferPolicy(configuration), jitter: 0)
    }

    @Test("a lost upload starts again, whatever retry_errors is, but not after three losses in a row")
    func losses() {
        for losses in 1...2 as ClosedRange<UInt32> {
            let found = decision(lost("PUT", losses: losses))
            guard case .later(_, losses) = found else {
                Issue.record("\(losses): \(found)")
                continue
            }
        }
        #expect(decision(lost("PUT", losses: 3)) == .end)
    }

    @Test("failures of other kinds do not count as losses: a server may forget an upload during an outage")
    func otherFailures() {
        guard case .later = decision(lost("PUT", losses: 1, failures: 9)) else {
            Issue.record("\(decision(lost("PUT", losses: 1, failures: 9)))")
            return
        }
    }

    @Test("losses are counted until the server confirms new bytes, also if attempts between them fail otherwise")
    func counts() {
        var attempt = lost("PUT", losses: 1)
        attempt.repeats = attempt.repeats(after: .end)
        attempt.hasLostUpload = false
        attempt.repeats = attempt.repeats(after: .end)
        #expect(attempt.repeats.lost == 1)
        attempt.hasLostUpload = true
        #expect(attempt.repeats(after: .end).lost == 2)
        attempt.madeProgress = true
        #expect(attempt.repeats(after: .end).lost == 1)
        attempt.hasLostUpload = false
        #expect(attempt.repeats(after: .end).lost == 0)
    }

    @Test("a POST on which the server may have acted does not start again")
    func post() {
        #expect(decision(lost("POST", losses: 1)) == .end)
    }

    @Test("credentials that expire again after new parts are replaced at once, and otherwise only one time")
    func expiredCredentials() {
        var attempt = FailedAttempt(Failure(.httpStatus, "ExpiredToken", domain: .http, detail: 400))
        attempt.hasExpiredCredentials = true
        #expect(decision(attempt) == .immediately)
        attempt.repeats = attempt.repeats(after: .immediately)
        #expect(decision(attempt) == .end)
        attempt.madeProgress = true
        #expect(decision(attempt) == .immediately)
    }
}
