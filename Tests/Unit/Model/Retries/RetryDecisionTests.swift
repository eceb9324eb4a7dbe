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
private let full = Failure(.diskFull, "ENOSPC")
private func status(_ code: Int64) -> Failure { Failure(.httpStatus, "status \(code)", domain: .http, detail: code) }

private let portal = status(511)

private let refusal = RetryDecision.end
/// The delay after the first fruitless try, with all of its random part.
private let first = RetryDecision.later(milliseconds: 1_000, fruitless: 1)

/// One row: a failure, what was changed in a plain attempt and in the defaults, and what comes next.
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
}

@Suite("Whether and when a task is tried again")
struct RetryDecisionTests {
    @Test("A task has the tolerances of its session, by default none")
    func tolerances() {
        var session = SessionConfiguration(identifier: "s")
        #expect(TransferPolicy(session).tolerances == [])
        session.tolerances = .earlyResponse
        #expect(TransferPolicy(session).tolerances == .earlyResponse)
    }

    @Test("What a server mostly does always is tried again a few times only", arguments: [
        RetryRow("truncated, the second time", truncated, becomes: .later(milliseconds: 2_000, fruitless: 2)) {
            $0.fruitless = 1
        },
        RetryRow("truncated, the third time", truncated, becomes: refusal) { $0.fruitless = 2 },
        RetryRow("early response, the third time", early, becomes: refusal) { $0.fruitless = 2 },
        RetryRow("lost, the third time", lost, becomes: .later(milliseconds: 4_000, fruitless: 3)) { $0.fruitless = 2 },
        RetryRow("early response to a POST", early, becomes: refusal) { $0.method = "POST" },
    ])
    func lasting(_ row: RetryRow) {
        #expect(RetryDecision.decide(row.attempt, row.policy, jitter: 1) == row.decision)
    }

    @Test("413 is temporary with Retry-After", arguments: [
        RetryRow("413", status(413), becomes: refusal),
        RetryRow("413 with Retry-After", status(413), becomes: .later(milliseconds: 5_000, fruitless: 1)) {
            $0.retryAfterSeconds = 5
        },
        RetryRow("413 with Retry-After, without the bit of statuses", status(413), becomes: refusal) {
            $0.retryAfterSeconds = 5
        } policy: { $0.retryErrors.remove(.status) },
    ])
    func contentTooLarge(_ row: RetryRow) {
        #expect(RetryDecision.decide(row.attempt, row.policy, jitter: 1) == row.decision)
    }

    @Test("Each error has its bit of retry_errors", arguments: [
        RetryRow("name, by default", name, becomes: first),
        RetryRow("connection, by default", connection, becomes: first),
        RetryRow("lost, by default", lost, becomes: first),
        RetryRow("truncated, by default", truncated, becomes: first),
        RetryRow("time-out, by default", silence, becomes: first),
        RetryRow("handshake, by default", handshake, becomes: first),
        RetryRow("503, by default", status(503), becomes: first),
        RetryRow("425, by default", status(425), becomes: first),
        RetryRow("404, by default", status(404), becomes: refusal),
        RetryRow("bad answer, by default", nonsense, becomes: refusal),
        RetryRow("disk, by default", disk, becomes: first),
        RetryRow("name, without its bit", name, becomes: refusal) { _ in } policy: {
            $0.retryErrors.remove(.name)
        },
        RetryRow("connection, without its bit", connection, becomes: refusal) { _ in } policy: {
            $0.retryErrors.remove(.connection)
        },
        RetryRow("lost, without its bit", lost, becomes: refusal) { _ in } policy: { $0.retryErrors.remove(.lost) },
        RetryRow("truncated, without the bit of lost", truncated, becomes: refusal) { _ in } policy: {
            $0.retryErrors.remove(.lost)
        },
        RetryRow("time-out, without its bit", silence, becomes: refusal) { _ in } policy: {
            $0.retryErrors.remove(.timeout)
        },
        RetryRow("handshake, without its bit", handshake, becomes: refusal) { _ in } policy: {
            $0.retryErrors.remove(.tls)
        },
        RetryRow("503, without its bit", status(503), becomes: refusal) { _ in } policy: {
            $0.retryErrors.remove(.status)
        },
        RetryRow("bad answer, with its bit", nonsense, becomes: first) { _ in } policy: {
            $0.retryErrors.insert(.badResponse)
        },
        RetryRow("lost, with nothing", lost, becomes: refusal) { _ in } policy: { $0.retryErrors = .nothing },
        RetryRow("disk, with nothing", disk, becomes: refusal) { _ in } policy: { $0.retryErrors = .nothing },
        RetryRow("disk, with another bit only", disk, becomes: first) { _ in } policy: { $0.retryErrors = .name },
        RetryRow("404 in retry_statuses", status(404), becomes: first) { _ in } policy: {
            $0.retryStatuses = StatusList("404") ?? $0.retryStatuses
        },
        RetryRow("503 not in retry_statuses", status(503), becomes: refusal) { _ in } policy: {
            $0.retryStatuses = StatusList("404") ?? $0.retryStatuses
        },
        RetryRow("a status that is none", status(.max), becomes: refusal),
    ])
    func errors(_ row: RetryRow) { check(row) }

    @Test("A request whose effect may have happened is sent again only where that does no harm", arguments: [
        RetryRow("POST, lost", lost, becomes: refusal) { $0.method = "POST" },
        RetryRow("PATCH, silent", silence, becomes: refusal) { $0.method = "PATCH" },
        RetryRow("a method that nobody knows", lost, becomes: refusal) { $0.method = "FROBNICATE" },
        RetryRow("methods are written in capitals", lost, becomes: refusal) { $0.method = "put" },
        RetryRow("PUT, lost", lost, becomes: first) { $0.method = "PUT" },
        RetryRow("DELETE, lost", lost, becomes: first) { $0.method = "DELETE" },
        RetryRow("HEAD, lost", lost, becomes: first) { $0.method = "HEAD" },
        RetryRow("POST, no connection", connection, becomes: first) { $0.method = "POST" },
        RetryRow("POST, no name", name, becomes: first) { $0.method = "POST" },
        RetryRow("POST, no handshake", handshake, becomes: first) { $0.method = "POST" },
        RetryRow("POST, 503", status(503), becomes: refusal) { $0.method = "POST" },
        RetryRow("POST, 408: it had not come whole", status(408), becomes: first) { $0.method = "POST" },
        RetryRow("POST, silent before it was sent", silence, becomes: first) {
            $0.method = "POST"
            $0.surelyNotProcessed = true
        },
        RetryRow("POST, lost, wanted all the same", lost, becomes: first) { $0.method = "POST" } policy: {
            $0.retriesUnsafeMethods = true
        },
        RetryRow("POST, 503, wanted all the same", status(503), becomes: first) { $0.method = "POST" } policy: {
            $0.retriesUnsafeMethods = true
        },
        RetryRow("POST, 404, wanted all the same", status(404), becomes: refusal) { $0.method = "POST" } policy: {
            $0.retriesUnsafeMethods = true
        },
    ])
    func methods(_ row: RetryRow) { check(row) }

    @Test("Tries that brought no new durable bytes are counted, and no others", arguments: [
        RetryRow("the last", lost, becomes: refusal) { $0.fruitless = 2 } policy: { $0.maximumAttempts = 3 },
        RetryRow("the last but one", lost, becomes: .later(milliseconds: 2_000, fruitless: 2)) {
            $0.fruitless = 1
        } policy: { $0.maximumAttempts = 3 },
        RetryRow("one only", lost, becomes: refusal) { _ in } policy: { $0.maximumAttempts = 1 },
        RetryRow("one only, with progress", lost, becomes: .later(milliseconds: 1_000, fruitless: 0)) {
            $0.fruitless = 9
            $0.madeProgress = true
        } policy: { $0.maximumAttempts = 1 },
        RetryRow("without a limit", lost, becomes: .later(milliseconds: 600_000, fruitless: .max)) {
            $0.fruitless = .max
        },
        RetryRow("more than the limit, which was lowered", lost, becomes: refusal) { $0.fruitless = 50 } policy: {
            $0.maximumAttempts = 3
        },
        RetryRow("Retry-After gives no try more", status(503), becomes: refusal) {
            $0.retryAfterSeconds = 5
        } policy: { $0.maximumAttempts = 1 },
    ])
    func counted(_ row: RetryRow) { check(row) }

    @Test("A stream that the server has not looked at is sent again at once, five times in a row", arguments: [
        RetryRow("refused", lost, becomes: .atOnce) { ($0.surelyNotProcessed, $0.wentAway) = (true, true) },
        RetryRow("refused again", lost, becomes: .atOnce) {
            ($0.surelyNotProcessed, $0.wentAway) = (true, true)
            $0.immediate = 4
        },
        RetryRow("refused too often", lost, becomes: first) {
            ($0.surelyNotProcessed, $0.wentAway) = (true, true)
            $0.immediate = 5
        },
        RetryRow("refused, as the last try", lost, becomes: .atOnce) {
            ($0.surelyNotProcessed, $0.wentAway) = (true, true)
            $0.fruitless = 2
        } policy: { $0.maximumAttempts = 3 },
        RetryRow("refused, with nothing to retry", lost, becomes: .atOnce) {
            ($0.surelyNotProcessed, $0.wentAway) = (true, true)
        } policy: { $0.retryErrors = .nothing },
        RetryRow("refused, POST", lost, becomes: .atOnce) {
            ($0.surelyNotProcessed, $0.wentAway) = (true, true)
            $0.method = "POST"
        },
        RetryRow("gone away", lost, becomes: .atOnce) { $0.wentAway = true },
        RetryRow("gone away too often", lost, becomes: first) {
            $0.wentAway = true
            $0.immediate = 5
        },
        RetryRow("gone away, POST", lost, becomes: refusal) {
            $0.wentAway = true
            $0.method = "POST"
        },
        RetryRow("broken before anything was sent", lost, becomes: first) { $0.surelyNotProcessed = true },
        RetryRow("no connection is no refused stream", connection, becomes: first) { $0.surelyNotProcessed = true },
    ])
    func refusedStreams(_ row: RetryRow) { check(row) }

    @Test("Without a route the task waits, and no attempt is counted", arguments: [
        RetryRow("connection", connection, becomes: .whenConnected) { $0.hasNoWay = true },
        RetryRow("name", name, becomes: .whenConnected) { $0.hasNoWay = true },
        RetryRow("as the last try", connection, becomes: .whenConnected) {
            $0.hasNoWay = true
            $0.fruitless = 2
        } policy: { $0.maximumAttempts = 1 },
        RetryRow("POST", connection, becomes: .whenConnected) {
            $0.hasNoWay = true
            $0.method = "POST"
        },
        RetryRow("where such an error is not to be tried again", connection, becomes: refusal) {
            $0.hasNoWay = true
        } policy: { $0.retryErrors = .lost },
    ])
    func connectivity(_ row: RetryRow) { check(row) }

    @Test("With a dead uplink the task waits, and no attempt is counted", arguments: [
        RetryRow("dead uplink", connection, becomes: .whenUplinkLeads) { $0.isOfUplink = true },
        RetryRow("as the last try", connection, becomes: .whenUplinkLeads) {
            $0.isOfUplink = true
            $0.fruitless = 2
        } policy: { $0.maximumAttempts = 1 },
        RetryRow("a portal's answer", portal, becomes: .whenUplinkLeads) { $0.isOfUplink = true },
        RetryRow("a portal's answer to a POST", portal, becomes: .whenUplinkLeads) {
            $0.isOfUplink = true
            $0.method = "POST"
        },
        RetryRow("a POST that may have arrived", lost, becomes: refusal) {
            $0.isOfUplink = true
            $0.method = "POST"
        },
        RetryRow("where such an error is not to be tried again", connection, becomes: refusal) {
            $0.isOfUplink = true
        } policy: { $0.retryErrors = .lost },
        RetryRow("511 of a server that is no portal", portal, becomes: refusal),
    ])
    func uplink(_ row: RetryRow) { check(row) }

    @Test("A full disk is a reason to wait, however long and often", arguments: [
        RetryRow("by default", full, becomes: .whenThereIsSpace(lookAgainMilliseconds: 5_000)) {
            $0.reason = .diskFull
        },
        RetryRow("as the last try", full, becomes: .whenThereIsSpace(lookAgainMilliseconds: 5_000)) {
            $0.reason = .diskFull
            $0.fruitless = 2
        } policy: { $0.maximumAttempts = 1 },
        RetryRow("near the end of its time", full, becomes: .whenThereIsSpace(lookAgainMilliseconds: 70)) {
            $0.reason = .diskFull
            $0.remainingMilliseconds = 70
        },
    ])
    func disks(_ row: RetryRow) { check(row) }

    @Test("Bytes that turned out to be of no use are fetched anew, whatever retry_errors says", arguments: [
        RetryRow("by default", nonsense, becomes: first) { $0.fromZero = true },
        RetryRow("with nothing", nonsense, becomes: first) { $0.fromZero = true } policy: {
            $0.retryErrors = .nothing
        },
        RetryRow("not for ever", nonsense, becomes: refusal) {
            $0.fromZero = true
            $0.fruitless = 2
        } policy: { $0.maximumAttempts = 3 },
    ])
    func newBeginnings(_ row: RetryRow) { check(row) }

    @Test("The wait ends with the task's time", arguments: [
        RetryRow("sooner", lost, becomes: .later(milliseconds: 400, fruitless: 1)) { $0.remainingMilliseconds = 400 },
        RetryRow("over", lost, becomes: .later(milliseconds: 0, fruitless: 1)) { $0.remainingMilliseconds = -5 },
        RetryRow("Retry-After", status(503), becomes: .later(milliseconds: 400, fruitless: 1)) {
            $0.remainingMilliseconds = 400
            $0.retryAfterSeconds = 3_600
        },
    ])
    func time(_ row: RetryRow) { check(row) }

    private func check(_ row: RetryRow) {
        #expect(RetryDecision.decide(row.attempt, row.policy, jitter: 1) == row.decision)
    }
}
