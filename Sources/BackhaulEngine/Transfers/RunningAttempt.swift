internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// What downloads and uploads have in common while they run.
final class RunningAttempt {
    /// The values that are fixed when the attempt begins.
    struct Terms {
        /// Late results of an earlier attempt of the same task have another number.
        let number: UInt64
        let configuration: SessionConfiguration
        let policy: TransferPolicy
        /// The time at which the attempt began, in milliseconds since boot.
        let began: Int64
        /// The end of the task's resource time-out, in milliseconds since boot.
        let deadline: Int64
        /// The space that was missing in the last attempt; nil if the file system was not full.
        let neededSpace: UInt64?
        let cookies: CookieJar?
    }

    /// The reason for which an attempt stops before its task has ended.
    enum StopReason {
        case cancelled, preempted, held, engineStops
    }

    /// The state of credentials in this attempt.
    struct Authentication {
        /// The challenge of a server or proxy, until the store has handled the challenge.
        var authChallenge: AuthenticationChallenge?
        /// The number of the credential that was sent to the server or proxy before its challenge; nil if none was
        /// sent.
        var sentCredential: UInt64?
        /// The secrets that were sent. A server may repeat secrets in its response, so they are removed before the
        /// response is stored.
        var secrets = SecretRedactor()
    }

    /// A failed commit, and the timer that repeats the commit.
    private struct FailedCommit {
        let failure: Failure
        let timer: any RuntimeTimer
    }

    let terms: Terms
    let services: TransferServices
    private(set) var task: StoredTask
    private(set) var holdsSlot: Bool
    /// Whether the lane runs only one task at a time, and the server has not responded to this task yet.
    private var runsAlone: Bool
    private(set) var transfer: Transfer?
    /// The transfers of the extra parts of an upload.
    private var extraTransfers: [Transfer] = []
    /// The source of the request's body; nil if the request has none.
    var feed: BodyFeed?
    var exchange: ExchangeRecord
    var authentication = Authentication()
    private(set) var stopReason: StopReason?
    /// The state of the task after this attempt, and the reason why the task does not run.
    var stoppedState: (TaskState, WaitReason)
    private var failedCommit: FailedCommit?
    private(set) var isOver = false
    /// The stored record of this attempt; nil before the end, and if the attempt sent no request.
    private(set) var lastRecord: Attempt?
    /// The effects of the present call of this attempt or its runner.
    private var effects: [EngineEffect] = []

    init(_ task: StoredTask, _ terms: Terms, _ services: TransferServices, holdsSlot: Bool, runsAlone: Bool) {
        self.task = task
        self.terms = terms
        self.services = services
        self.holdsSlot = holdsSlot
        self.runsAlone = runsAlone
        stoppedState = holdsSlot ? (.suspended, .suspended) : (.waiting, .slot)
        exchange = ExchangeRecord(now: terms.began)
    }

    var runningTask: RunningTask {
        RunningTask(
            id: task.id, session: task.session, lane: task.lane, origin: task.origin, constraints: task.constraints)
    }

    // MARK: Effects

    func emit(_ effect: AttemptEffect) { effects.append(.attempt(self, effect)) }

    func emit(_ effect: EngineEffect) { effects.append(effect) }

    /// Returns the effects since the last call.
    func takeEffects() -> [EngineEffect] {
        guard !effects.isEmpty else { return [] }
        defer { effects = [] }
        return effects
    }

    /// Passes the effects on. A runner calls this at the end of each call-back of the transport.
    func passEffects() {
        if !effects.isEmpty { services.runtime.add(takeEffects()) }
    }

    // MARK: Changes from outside

    /// Changes the task's options or constraints, because a command has changed them.
    func change(_ change: (inout StoredTask) -> Void) { change(&task) }

    func stops(_ reason: StopReason, _ state: (TaskState, WaitReason)? = nil) {
        stopReason = reason
        if let state { stoppedState = state }
    }

    // MARK: Time, slot, rate

    /// The milliseconds until the task's resource time-out is over.
    var remainingMilliseconds: Int64 { terms.deadline - services.runtime.now }

    func releaseSlot() {
        guard holdsSlot else { return }
        holdsSlot = false
        emit(.releasedSlot)
    }

    func endRunningAlone() {
        guard runsAlone else { return }
        runsAlone = false
        emit(.endedRunningAlone)
    }

    var waitsForRate: Bool { services.traffic.rates.isWaiting(task.id) }

    var rateReason: String? { services.traffic.rates.reason(of: task.id) }

    func takeFromRate(_ count: Int) { services.traffic.rates.moved(count, by: task.id, of: task.session) }

    /// Continues a paused transfer.
    func resumeTransfer() {
        // The engine caused the pause, so the pause does not count as silence of the server.
        exchange.lastByte = services.runtime.now
        for transfer in [transfer].compactMap({ $0 }) + extraTransfers {
            transfer.resume()
            transfer.resumeSending()
        }
    }

    // MARK: Bytes

    func received(_ count: Int) {
        services.traffic.counters.received(count)
        moved(count)
    }

    func sent(_ count: Int) {
        services.traffic.counters.sent(count)
        moved(count)
    }

    /// Counts body bytes that were received or sent.
    private func moved(_ count: Int) {
        exchange.moved(count, now: services.runtime.now)
        let more = services.traffic.budgets.moved(count, by: task)
        if !more.isEmpty { effects += more }
    }

    /// The sent bytes of all attempts.
    var bytesSent: UInt64 {
        extraTransfers.reduce(task.bytesSent &+ exchange.bytesSent(transfer)) { $0 &+ $1.bytesSent }
    }

    var bodySent: UInt64 { exchange.bodySent(transfer) }

    /// The requests of all attempts.
    var requests: UInt32 { task.attempts &+ exchange.requests }

    // MARK: Requests

    var isS3: Bool { S3Object.isObject(task.request.url) }

    var mayRepeat: Bool { terms.policy.mayRepeat(task.request.method) }

    func request(ifRange: String? = nil) -> TransferRequest {
        var session = terms.configuration
        if task.request.isCrossOrigin { session.headers = [] }
        var request = TransferRequest(
            url: task.request.url, headers: task.request.headers, origin: task.origin, session: session,
            policy: terms.policy, credentials: services.credentials[task.session])
        if let type = feed?.layout.contentType { request.protocolHeaders = [HeaderField("Content-Type", type)] }
        if isS3 {
            request.s3 = S3Request(terms.policy.s3)
            // A redirect needs another signature. The transport itself handles the redirects to another region.
            request.redirects = .none
        }
        request.ifRange = ifRange
        request.secrets = refreshedSecrets
        if task.request.options.refresh == .headers {
            // The fields of the session are not refreshed.
            request.refreshedNames = Set(task.request.headers.map { $0.name.lowercased() })
        }
        request.bypassesDNSCache = task.attempts > 0
        request.method = task.request.method
        request.canBeRepeated = mayRepeat
        // The server may demand another credential, so it has to respond before a large body is sent.
        if runsAlone, let size = feed?.size, size >= Self.awaitedBodySize { request.expectation = .always }
        // A task with a rate limit uses HTTP/1.1 with its own connection. A paused HTTP/2 stream would block the other
        // streams of its connection, and libcurl 7.88 would buffer up to 10 MiB of the paused stream.
        let isLimited = services.traffic.rates.isLimited(task.id, of: task.session)
        if isLimited, request.httpVersion == .standard { request.httpVersion = .http1 }
        return request
    }

    /// Notes whether more tasks of the lane can share a connection. A response to a request that could only use
    /// HTTP/1.1 does not show this.
    func noteProtocol(of head: ResponseHead) {
        let usesHTTP1 =
            terms.policy.httpVersion == .http1 || services.traffic.rates.isLimited(task.id, of: task.session)
        guard let shares = head.sharesConnection(to: task.origin), shares || !usesHTTP1 else { return }
        emit(.multiplexing(shares))
    }

    /// The request of one step of an upload. The fields of the host's request describe its body, and are meant for its
    /// origin.
    func request(of step: UploadStep, _ uploadProtocol: UploadProtocol, size: UInt64) throws(Failure) -> TransferRequest
    {
        var request = request()
        if isS3 {
            request.url = uploadProtocol.url(of: step, task.request.url)
            request.headers = UploadProtocol.s3Fields(of: step, request.headers)
        } else if let resource = step.resource {
            let origin = try URLParser.origin(of: resource.url)
            request.headers = origin == task.origin ? request.headers.filter { !$0.describesBody } : []
            (request.url, request.origin) = (resource.url, origin)
        }
        if step != .whole { request.protocolHeaders = [] }
        request.protocolHeaders += uploadProtocol.fields(of: step, size: size)
        request.method = uploadProtocol.method(of: step) ?? request.method
        switch step {
        case .whole: break
        // The same part replaces the first one.
        case .part, .complete: break
        // The transport would send the bytes again at the same offset.
        case .append: request.canBeRepeated = false
        case .create, .probe, .list:
            request.canBeRepeated = true
            feed = nil
        }
        return request
    }

    /// If a body has at least this many bytes, the server has to respond before the body is sent. This applies only
    /// while `runsAlone` is true.
    private static let awaitedBodySize: UInt64 = 64 << 10

    /// The secrets in the new headers of a request, which the host has given because the old headers had expired.
    private var refreshedSecrets: SecretRedactor {
        var secrets = SecretRedactor()
        if let refreshed = task.refreshed { secrets.add(.headers(refreshed.headers)) }
        return secrets
    }

    func start(_ request: TransferRequest, _ delegate: some TransferDelegate) throws(Failure) {
        let started = try services.transport.start(request, body: feed, cookies: terms.cookies, delegate)
        transfer = started
        feed?.transfer = started
    }

    /// Starts the transfer of an extra part. `body`: the bytes of the part.
    func startExtra(
        _ request: TransferRequest, body: BodyFeed?, _ delegate: some TransferDelegate
    ) throws(Failure) -> Transfer {
        let started = try services.transport.start(request, body: body, cookies: terms.cookies, delegate)
        extraTransfers.append(started)
        body?.transfer = started
        return started
    }

    func extraTransferEnded(_ transfer: Transfer) {
        exchange.endExtra(transfer)
        extraTransfers.removeAll { $0 === transfer }
    }

    func transferEnded(_ transfer: Transfer) {
        exchange.end(transfer)
        self.transfer = nil
    }

    func stopTransfer() {
        guard let transfer else { return }
        transferEnded(transfer)
        transfer.cancel()
    }

    /// The origin that sent the response after redirects; nil if this is the task's own origin. A portal may have sent
    /// the redirects.
    func redirectTarget(_ head: ResponseHead) -> Origin? { foreignOrigin(of: head.finalURL) }

    /// Whether the last request followed a redirect to another origin. Then the task's own origin has responded, and a
    /// failure to reach the other origin shows nothing about it.
    var hasLeftOrigin: Bool { exchange.metrics.redirects > 0 && foreignOrigin(of: exchange.metrics.url) != nil }

    /// The origin of the URL; nil if this is the task's own origin.
    private func foreignOrigin(of url: String) -> Origin? {
        guard url != task.request.url, let origin = try? URLParser.origin(of: url), origin != task.origin else {
            return nil
        }
        return origin
    }

    // MARK: Commits

    /// The failure of the last commit; nil if that commit succeeded.
    var commitFailure: Failure? { failedCommit?.failure }

    /// Commits again after a second. The store's file system may have space then, and nothing is lost meanwhile.
    func retryCommit(after failure: Failure, _ commit: @escaping () -> Void) {
        let timer = services.runtime.timer { [unowned self] in
            commit()
            return takeEffects()
        }
        failedCommit = FailedCommit(failure: failure, timer: timer)
        timer.start(milliseconds: 1_000)
    }

    /// A commit succeeded, so an earlier failure is not reported any more.
    func commitSucceeded() { failedCommit = nil }

    /// Runs `body` in a transaction, and `then` on the loop if this attempt still runs. `mayBeDelayed`: as in
    /// `Runtime.store`.
    func store<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value, mayBeDelayed: Bool = false,
        then: @escaping (Result<Value, Failure>) -> Void
    ) {
        services.runtime.store(body, mayBeDelayed: mayBeDelayed, then: { [self] result in afterwards { then(result) } })
    }

    /// Returns a function that another thread calls once. `then` runs on the loop if this attempt still runs.
    func returning<Value: Sendable>(_ then: @escaping (Value) -> Void) -> @Sendable (Value) -> Void {
        services.runtime.returning { [self] (value: Value) in afterwards { then(value) } }
    }

    /// Runs the body if this attempt still runs. Returns the effects.
    func afterwards(_ body: () -> Void) -> [EngineEffect] {
        if !isOver { body() }
        return takeEffects()
    }

    // MARK: The end

    /// Notes the record with which the attempt ends.
    func conclude(_ record: Attempt?) { lastRecord = record }

    /// What the metrics count of this attempt; nil if it sent no request. `status`: the status of the response.
    func counted(status: Int32?) -> EngineCounters.EndedAttempt? {
        guard let lastRecord else { return nil }
        let outcome: EngineCounters.AttemptOutcome =
            switch lastRecord.next {
            case .end: stoppedState.0 == .succeeded ? .succeeded : .failed
            case .retry: .retried
            case .challenge: .challenged
            case .stopped, .running: .stopped
            }
        return EngineCounters.EndedAttempt(
            outcome: outcome, retryReason: outcome == .retried ? lastRecord.failure?.status : nil,
            resumedBytes: status == 206 ? exchange.requestOffset : 0)
    }

    /// Ends the attempt, after the task's descriptors were closed.
    func finish() {
        releaseSlot()
        // If the store has not handled the challenge of the response, no challenge was opened.
        if let open = authentication.authChallenge { emit(.challengeHandled(open.space, opened: nil)) }
        authentication.authChallenge = nil
        endRunningAlone()
        isOver = true
        emit(.finished)
    }
}
