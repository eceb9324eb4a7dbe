import BackhaulModel
import Testing

private let name = Failure(.nameNotResolved, "no such name")
private let connection = Failure(.connectionFailed, "refused")
private let lost = Failure(.connectionLost, "broken")
private let truncated = Failure(.tlsTruncated, "no close_notify")
private let early = Failure(.connectionLost, "201 before the body", domain: .http, detail: 201)
private let silence = Failure(.requestTimeout, "silent")
private let handshake = Failure(.tlsFailed, "broken off")
private let nonsense = Failure(.badResponse, "no HTTP")
private let disk = Failure(.diskFailed, "EIO")
private func status(_ code: Int64) -> Failure { Failure(.httpStatus, "status \(code)", domain: .http, detail: code) }

private let portal = status(511)

private let refusal = RetryDecision.end
/// The delay after the first attempt without progress. The random part of the delay has its largest value.
private let first = RetryDecision.later(milliseconds: 1_000, consecutiveFailures: 1)

/// One row: a failed attempt, a policy (a task's rules for retries), and the expected decision. The closures change the
/// attempt and the default policy.
struct RetryRow: CustomTestStringConvertible {
    var testDescription: String
    var attempt: FailedAttempt
    var policy = TransferPolicy(SessionConfiguration(identifier: "s"))
    var decision: RetryDecision

    init(
        _ description: String, _ failure: Failure, becomes decision: RetryDecision,
        attempt change: (inout FailedAttempt) -> Void = { _ in },
        policy changePolicy: (inout TransferPolicy) -> Void = { _ in }
    ) {
        testDescription = description
        attempt = FailedAttempt(failure)
        self.decision = decision
        change(&attempt)
        changePolicy(&policy)
    }

    func check() { #expect(RetryDecision.decide(attempt, policy, jitter: 1) == decision) }
}

/// `retry_errors` is a field of a request. It has one bit for each error after which the task is retried.
@Suite("The decision to retry")
struct RetryDecisionTests {
    @Test("A task has the tolerances of its session; by default, a session has no tolerances")
    func tolerances() {
        var session = SessionConfiguration(identifier: "s")
        #expect(TransferPolicy(session).tolerances == [])
        session.tolerances = .earlyResponse
        #expect(TransferPolicy(session).tolerances == .earlyResponse)
    }

    @Test(
        "Failures that a server usually repeats are retried only a few times",
        arguments: [
            RetryRow(
                "truncated, the second time", truncated,
                becomes: .later(milliseconds: 2_000, consecutiveFailures: 2)
            ) {
                $0.consecutiveFailures = 1
            },
            RetryRow("truncated, the third time", truncated, becomes: refusal) { $0.consecutiveFailures = 2 },
            RetryRow("early response, the third time", early, becomes: refusal) { $0.consecutiveFailures = 2 },
            RetryRow(
                "lost, the third time", lost,
                becomes: .later(
                    milliseconds: 4_000, consecutiveFailures: 3)
            ) { $0.consecutiveFailures = 2 },
            RetryRow("early response to a POST", early, becomes: refusal) { $0.method = "POST" },
        ])
    func lasting(_ row: RetryRow) { row.check() }

    @Test(
        "A response with status 403, 413 or 5xx is retried if it has Retry-After, whatever retry_statuses contains",
        arguments: [403, 413, 429, 500, 501, 505, 530, 599])
    func deferred(_ code: Int64) {
        var attempt = FailedAttempt(status(code))
        attempt.retryAfterSeconds = 5
        var policy = TransferPolicy(SessionConfiguration(identifier: "s"))
        policy.retryStatuses = StatusList("404") ?? policy.retryStatuses
        let decision = RetryDecision.decide(attempt, policy, jitter: 1)
        #expect(decision == .later(milliseconds: 5_000, consecutiveFailures: 1))
        #expect(attempt.isDeferredByServer)
        for other: Int64 in [404, 511] {
            attempt.failure = status(other)
            #expect(!attempt.isDeferredByServer)
        }
    }

    @Test("a content network's statuses 520 to 530 are retried by default", arguments: [520, 523, 524, 530])
    func contentNetworks(_ code: Int64) { RetryRow("\(code)", status(code), becomes: first).check() }

    @Test("a task that was not redirected to a paused origin waits, whatever its policy, until its deadline at most")
    func pausedTarget() {
        RetryRow("paused", connection, becomes: .whenOriginAllows(milliseconds: 3_000)) {
            $0.redirectDelay = 3_000
            $0.consecutiveFailures = 9
        } policy: {
            $0.retryErrors = .nothing
            $0.maximumAttempts = 1
        }.check()
        RetryRow("deadline", connection, becomes: .whenOriginAllows(milliseconds: 10)) {
            $0.redirectDelay = 3_000
            $0.remainingMilliseconds = 10
        }.check()
    }

    @Test(
        "A response with status 413 is retried only if the response has Retry-After",
        arguments: [
            RetryRow("413", status(413), becomes: refusal),
            RetryRow("413 with Retry-After", status(413), becomes: .later(milliseconds: 5_000, consecutiveFailures: 1))
            {
                $0.retryAfterSeconds = 5
            },
            RetryRow("413 with Retry-After, without the bit `status`", status(413), becomes: refusal) {
                $0.retryAfterSeconds = 5
            } policy: {
                $0.retryErrors.remove(.status)
            },
        ])
    func contentTooLarge(_ row: RetryRow) { row.check() }

    @Test(
        "An error is retried only if retry_errors has the bit of this error",
        arguments: [
            RetryRow("name, by default", name, becomes: first),
            RetryRow("connection, by default", connection, becomes: first),
            RetryRow("lost, by default", lost, becomes: first),
            RetryRow("truncated, by default", truncated, becomes: first),
            RetryRow("time-out, by default", silence, becomes: first),
            RetryRow("handshake, by default", handshake, becomes: first),
            RetryRow("503, by default", status(503), becomes: first),
            RetryRow("425, by default", status(425), becomes: first),
            RetryRow("404, by default", status(404), becomes: refusal),
            RetryRow("bad response, by default", nonsense, becomes: refusal),
            RetryRow("disk, by default", disk, becomes: first),
            RetryRow("name, without its bit", name, becomes: refusal) { _ in
            } policy: {
                $0.retryErrors.remove(.name)
            },
            RetryRow("connection, without its bit", connection, becomes: refusal) { _ in
            } policy: {
                $0.retryErrors.remove(.connection)
            },
            RetryRow("lost, without its bit", lost, becomes: refusal) { _ in
            } policy: {
                $0.retryErrors.remove(.lost)
            },
            RetryRow("truncated, without the bit `lost`", truncated, becomes: refusal) { _ in
            } policy: {
                $0.retryErrors.remove(.lost)
            },
            RetryRow("time-out, without its bit", silence, becomes: refusal) { _ in
            } policy: {
                $0.retryErrors.remove(.timeout)
            },
            RetryRow("handshake, without its bit", handshake, becomes: refusal) { _ in
            } policy: {
                $0.retryErrors.remove(.tls)
            },
            RetryRow("503, without its bit", status(503), becomes: refusal) { _ in
            } policy: {
                $0.retryErrors.remove(.status)
            },
            RetryRow("bad response, with its bit", nonsense, becomes: first) { _ in
            } policy: {
                $0.retryErrors.insert(.badResponse)
            },
            RetryRow("lost, empty retry_errors", lost, becomes: refusal) { _ in
            } policy: {
                $0.retryErrors = .nothing
            },
            RetryRow("disk, empty retry_errors", disk, becomes: refusal) { _ in
            } policy: {
                $0.retryErrors = .nothing
            },
            RetryRow("disk needs no bit of its own", disk, becomes: first) { _ in
            } policy: {
                $0.retryErrors = .name
            },
            RetryRow("404 in retry_statuses", status(404), becomes: first) { _ in
            } policy: {
                $0.retryStatuses = StatusList("404") ?? $0.retryStatuses
            },
            RetryRow("503 not in retry_statuses", status(503), becomes: refusal) { _ in
            } policy: {
                $0.retryStatuses = StatusList("404") ?? $0.retryStatuses
            },
            RetryRow("an impossible status", status(.max), becomes: refusal),
        ])
    func errors(_ row: RetryRow) { row.check() }

    @Test(
        "If the server may have processed a request, the request is sent again only if its repetition is safe",
        arguments: [
            RetryRow("POST, lost", lost, becomes: refusal) { $0.method = "POST" },
            RetryRow("PATCH, silent", silence, becomes: refusal) { $0.method = "PATCH" },
            RetryRow("an unknown method", lost, becomes: refusal) { $0.method = "FROBNICATE" },
            RetryRow("a method in lower case", lost, becomes: refusal) { $0.method = "put" },
            RetryRow("PUT, lost", lost, becomes: first) { $0.method = "PUT" },
            RetryRow("DELETE, lost", lost, becomes: first) { $0.method = "DELETE" },
            RetryRow("HEAD, lost", lost, becomes: first) { $0.method = "HEAD" },
            RetryRow("POST, and only the name of its file is missing", lost, becomes: first) {
                ($0.method, $0.hasCompleteFile) = ("POST", true)
            },
            RetryRow("POST, no connection", connection, becomes: first) {
                ($0.method, $0.isUnprocessed) = ("POST", true)
            },
            RetryRow("POST, no connection after a lost one", connection, becomes: refusal) { $0.method = "POST" },
            RetryRow("POST, 503", status(503), becomes: refusal) { $0.method = "POST" },
            RetryRow("POST, 408: the server did not get all bytes", status(408), becomes: first) { $0.method = "POST" },
            RetryRow("POST, time-out before the request was sent", silence, becomes: first) {
                ($0.method, $0.isUnprocessed) = ("POST", true)
            },
            RetryRow("POST, lost, unsafe methods allowed", lost, becomes: first) {
                $0.method = "POST"
            } policy: {
                $0.retriesUnsafeMethods = true
            },
            RetryRow("POST, 503, unsafe methods allowed", status(503), becomes: first) {
                $0.method = "POST"
            } policy: {
                $0.retriesUnsafeMethods = true
            },
            RetryRow("POST, 404, unsafe methods allowed", status(404), becomes: refusal) {
                $0.method = "POST"
            } policy: {
                $0.retriesUnsafeMethods = true
            },
        ])
    func methods(_ row: RetryRow) { row.check() }

    @Test(
        "Only attempts without new durable bytes count towards the limit of attempts",
        arguments: [
            RetryRow("the last attempt", lost, becomes: refusal) {
                $0.consecutiveFailures =
                    2
            } policy: {
                $0.maximumAttempts = 3
            },
            RetryRow("the last attempt but one", lost, becomes: .later(milliseconds: 2_000, consecutiveFailures: 2)) {
                $0.consecutiveFailures = 1
            } policy: {
                $0.maximumAttempts = 3
            },
            RetryRow("a limit of one attempt", lost, becomes: refusal) { _ in
            } policy: {
                $0.maximumAttempts = 1
            },
            RetryRow(
                "a limit of one attempt, with progress", lost,
                becomes: .later(milliseconds: 1_000, consecutiveFailures: 0)
            ) {
                $0.consecutiveFailures = 9
                $0.madeProgress = true
            } policy: {
                $0.maximumAttempts = 1
            },
            RetryRow("without a limit", lost, becomes: .later(milliseconds: 600_000, consecutiveFailures: .max)) {
                $0.consecutiveFailures = .max
            },
            RetryRow(
                "more failures than the limit, because the limit was lowered", lost,
                becomes: refusal
            ) {
                $0.consecutiveFailures = 50
            } policy: {
                $0.maximumAttempts = 3
            },
            RetryRow("a limit of one attempt, with Retry-After", status(503), becomes: refusal) {
                $0.retryAfterSeconds = 5
            } policy: {
                $0.maximumAttempts = 1
            },
        ])
    func counted(_ row: RetryRow) { row.check() }

    @Test(
        "if a server refuses a stream or ends the connection, a repeatable request is resent at once, up to five times",
        arguments: [
            RetryRow("a refused stream", lost, becomes: .immediately) {
                ($0.isUnprocessed, $0.connectionWasClosed) = (true, true)
            },
            RetryRow("a stream that is refused again", lost, becomes: .immediately) {
                ($0.isUnprocessed, $0.connectionWasClosed) = (true, true)
                $0.repeats.immediate = 4
            },
            RetryRow("a stream that is refused too often", lost, becomes: first) {
                ($0.isUnprocessed, $0.connectionWasClosed) = (true, true)
                $0.repeats.immediate = 5
            },
            RetryRow("a refused stream at the last attempt", lost, becomes: .immediately) {
                ($0.isUnprocessed, $0.connectionWasClosed) = (true, true)
                $0.consecutiveFailures = 2
            } policy: {
                $0.maximumAttempts = 3
            },
            RetryRow("a refused stream, with empty retry_errors", lost, becomes: .immediately) {
                ($0.isUnprocessed, $0.connectionWasClosed) = (true, true)
            } policy: {
                $0.retryErrors = .nothing
            },
            RetryRow("a refused stream, POST", lost, becomes: .immediately) {
                ($0.isUnprocessed, $0.connectionWasClosed) = (true, true)
                $0.method = "POST"
            },
            RetryRow("a closed connection", lost, becomes: .immediately) { $0.connectionWasClosed = true },
            RetryRow("a connection that is closed too often", lost, becomes: first) {
                $0.connectionWasClosed = true
                $0.repeats.immediate = 5
            },
            RetryRow("a closed connection, POST", lost, becomes: refusal) {
                $0.connectionWasClosed = true
                $0.method = "POST"
            },
            RetryRow("lost before any byte was sent", lost, becomes: first) { $0.isUnprocessed = true },
            RetryRow("a failed connection does not count as a refused stream", connection, becomes: first) {
                $0.isUnprocessed = true
            },
        ])
    func refusedStreams(_ row: RetryRow) { row.check() }

    @Test(
        "after an error of an HTTP/2 stream, a task gets three attempts in a row",
        arguments: [
            RetryRow("a stream error", nonsense, becomes: first) { $0.hasStreamError = true },
            RetryRow("at the third attempt", nonsense, becomes: refusal) {
                $0.hasStreamError = true
                $0.consecutiveFailures = 2
            },
            RetryRow(
                "at the third attempt, with progress", nonsense,
                becomes: .later(milliseconds: 1_000, consecutiveFailures: 0)
            ) {
                $0.hasStreamError = true
                $0.consecutiveFailures = 2
                $0.madeProgress = true
            },
            RetryRow(
                "at the third attempt, if bad responses are retried", nonsense,
                becomes: .later(milliseconds: 4_000, consecutiveFailures: 3)
            ) {
                $0.hasStreamError = true
                $0.consecutiveFailures = 2
            } policy: {
                $0.retryErrors = .badResponse
            },
            RetryRow("POST", nonsense, becomes: refusal) {
                $0.hasStreamError = true
                $0.method = "POST"
            },
            RetryRow("if the policy does not retry lost connections", nonsense, becomes: refusal) {
                $0.hasStreamError = true
            } policy: {
                $0.retryErrors = .timeout
            },
        ])
    func streamErrors(_ row: RetryRow) { row.check() }

    @Test(
        "Without a route, the task waits, and no attempt is counted",
        arguments: [
            RetryRow("connection", connection, becomes: .whenReachable) { $0.hasNoRoute = true },
            RetryRow("name", name, becomes: .whenReachable) { $0.hasNoRoute = true },
            RetryRow("at the last attempt", connection, becomes: .whenReachable) {
                $0.hasNoRoute = true
                $0.consecutiveFailures = 2
            } policy: {
                $0.maximumAttempts = 1
            },
            RetryRow("POST", connection, becomes: .whenReachable) {
                ($0.method, $0.isUnprocessed) = ("POST", true)
                $0.hasNoRoute = true
            },
            RetryRow("if the policy does not retry this error", connection, becomes: refusal) {
                $0.hasNoRoute = true
            } policy: {
                $0.retryErrors = .lost
            },
        ])
    func connectivity(_ row: RetryRow) { row.check() }

    @Test(
        "If the uplink is dead, the task waits, and no attempt is counted",
        arguments: [
            RetryRow("dead uplink", connection, becomes: .whenUplinkIsUp) { $0.isUplinkFailure = true },
            RetryRow("at the last attempt", connection, becomes: .whenUplinkIsUp) {
                $0.isUplinkFailure = true
                $0.consecutiveFailures = 2
            } policy: {
                $0.maximumAttempts = 1
            },
            RetryRow("a portal's response", portal, becomes: .whenUplinkIsUp) { $0.isUplinkFailure = true },
            RetryRow("a portal's response to a POST", portal, becomes: .whenUplinkIsUp) {
                $0.isUplinkFailure = true
                $0.method = "POST"
            },
            RetryRow("a POST that may have arrived", lost, becomes: refusal) {
                $0.isUplinkFailure = true
                $0.method = "POST"
            },
            RetryRow("if the policy does not retry this error", connection, becomes: refusal) {
                $0.isUplinkFailure = true
            } policy: {
                $0.retryErrors = .lost
            },
            RetryRow("511 from a server, without a portal", portal, becomes: refusal),
        ])
    func uplink(_ row: RetryRow) { row.check() }

    @Test(
        "If a task's bytes are unusable, the task is retried from byte 0, even if retry_errors is empty",
        arguments: [
            RetryRow("by default", nonsense, becomes: first) { $0.fromZero = true },
            RetryRow("with empty retry_errors", nonsense, becomes: first) {
                $0.fromZero = true
            } policy: {
                $0.retryErrors = .nothing
            },
            RetryRow("with a limit of attempts", nonsense, becomes: refusal) {
                $0.fromZero = true
                $0.consecutiveFailures = 2
            } policy: {
                $0.maximumAttempts = 3
            },
        ])
    func newBeginnings(_ row: RetryRow) { row.check() }

    @Test(
        "The delay of a retry ends at the task's deadline at the latest",
        arguments: [
            RetryRow(
                "a deadline before the end of the delay", lost,
                becomes: .later(
                    milliseconds: 400, consecutiveFailures: 1)
            ) { $0.remainingMilliseconds = 400 },
            RetryRow(
                "a deadline in the past", lost,
                becomes: .later(milliseconds: 0, consecutiveFailures: 1)
            ) { $0.remainingMilliseconds = -5 },
            RetryRow(
                "a deadline before Retry-After", status(503),
                becomes: .later(milliseconds: 400, consecutiveFailures: 1)
            ) {
                $0.remainingMilliseconds = 400
                $0.retryAfterSeconds = 3_600
            },
        ])
    func time(_ row: RetryRow) { row.check() }
}
