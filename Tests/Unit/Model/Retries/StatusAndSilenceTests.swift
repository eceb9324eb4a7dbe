import BackhaulModel
import Testing

private let silence = Failure(.requestTimeout, "silent")
private func status(_ code: Int64) -> Failure { Failure(.httpStatus, "status \(code)", domain: .http, detail: code) }

@Suite("The decision to retry after a refusal for now, or without a response")
struct StatusAndSilenceTests {
    @Test(
        "after 429, a POST is sent again, because the server has not acted; after 503, the server may have acted",
        arguments: [
            RetryRow("429", status(429), becomes: .later(milliseconds: 1_000, consecutiveFailures: 1)) {
                $0.method = "POST"
            },
            RetryRow("429 with Retry-After", status(429), becomes: .later(milliseconds: 9_000, consecutiveFailures: 1))
            {
                ($0.method, $0.retryAfterSeconds) = ("POST", 9)
            },
            RetryRow("429, not in retry.statuses", status(429), becomes: .end) {
                $0.method = "POST"
            } policy: {
                $0.retryStatuses = StatusList("408") ?? $0.retryStatuses
            },
            RetryRow("503 with Retry-After", status(503), becomes: .end) {
                ($0.method, $0.retryAfterSeconds) = ("POST", 9)
            },
        ])
    func tooMany(_ row: RetryRow) { row.check() }

    @Test(
        "a download with status 202 is retried if the response has Retry-After, and its origin is not paused",
        arguments: [
            RetryRow("GET", status(202), becomes: .later(milliseconds: 5_000, consecutiveFailures: 1)) {
                $0.retryAfterSeconds = 5
            },
            RetryRow(
                "GET with a delay of 0", status(202), becomes: .later(milliseconds: 1_000, consecutiveFailures: 1)
            ) {
                $0.retryAfterSeconds = 0
            },
            RetryRow("GET without Retry-After", status(202), becomes: .end),
            RetryRow("PUT", status(202), becomes: .end) { ($0.method, $0.retryAfterSeconds) = ("PUT", 5) },
            RetryRow("without the bit `status`", status(202), becomes: .end) {
                $0.retryAfterSeconds = 5
            } policy: {
                $0.retryErrors.remove(.status)
            },
        ])
    func unready(_ row: RetryRow) {
        row.check()
        #expect(!row.attempt.isDeferredByServer)
    }

    @Test(
        "if a server has the whole body three times in a row, and sends no response in time, the task fails",
        arguments: [
            RetryRow("the third time", silence, becomes: .end) {
                ($0.isUnanswered, $0.repeats.unanswered, $0.consecutiveFailures) = (true, 2, 9)
            },
            RetryRow(
                "the second time, after other failures", silence,
                becomes: .later(milliseconds: 4_000, consecutiveFailures: 3)
            ) {
                ($0.isUnanswered, $0.repeats.unanswered, $0.consecutiveFailures) = (true, 1, 2)
            },
            RetryRow(
                "the whole body was not sent", silence, becomes: .later(milliseconds: 4_000, consecutiveFailures: 3)
            ) {
                ($0.repeats.unanswered, $0.consecutiveFailures) = (2, 2)
            },
            RetryRow("a dead uplink", silence, becomes: .whenUplinkIsUp) {
                ($0.isUnanswered, $0.repeats.unanswered, $0.isUplinkFailure) = (true, 2, true)
            },
        ])
    func unanswered(_ row: RetryRow) { row.check() }

    @Test("attempts without a response to the whole body are counted until an attempt ends in another way")
    func counts() {
        var attempt = FailedAttempt(silence)
        attempt.isUnanswered = true
        let later = RetryDecision.later(milliseconds: 1, consecutiveFailures: 1)
        attempt.repeats = attempt.repeats(after: later)
        #expect(attempt.repeats(after: later).unanswered == 2)
        attempt.isUnanswered = false
        #expect(attempt.repeats(after: later) == RepeatCounts())
        #expect(attempt.repeats(after: .immediately).immediate == 1)
    }
}
