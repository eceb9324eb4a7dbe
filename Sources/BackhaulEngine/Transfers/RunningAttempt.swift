internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// An attempt, which is one run of a task (a download or an upload). This class has the state that both kinds of tasks
/// have in common.
final class RunningAttempt {
    /// The reason for which an attempt stops before its task has ended.
    enum StopReason {
        case cancelled, preempted, held
    }

    /// The state of credentials in this attempt.
    struct Authentication {
        /// The challenge of a server or proxy (its demand for a credential), until the store has handled the challenge.
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

    /// The number of this attempt. With the number, late results of an earlier attempt of the same task are recognised.
    let number: UInt64
    let configuration: SessionConfiguration
    let policy: TransferPolicy
    let context: TransferContext
    /// The time at which the attempt began, in milliseconds since boot.
    let began: Int64
    var task: StoredTask
    private(set) var holdsSlot: Bool
    /// Whether the lane (the tasks of one session for one server) runs only one task at a time, and the server has not
    /// responded to this task yet.
    var runsAlone: Bool
    var transfer: Transfer?
    /// The source of the request's body; nil if the request has none.
    var feed: BodyFeed?
    var exchange: ExchangeRecord
    var authentication = Authentication()
    var stopReason: StopReason?
    /// The state of the task after this attempt, and the reason why the task does not run.
    var stoppedState: (TaskState, WaitReason) = (.suspended, .suspended)
    private var failedCommit: FailedCommit?

    init(
        _ task: StoredTask, _ configuration: SessionConfiguration, _ context: TransferContext, holdsSlot: Bool,
        runsAlone: Bool
    ) {
        number = context.transfers.newAttempt()
        self.task = task
        self.configuration = configuration
        policy = TransferPolicy(configuration, task.request.options.policy)
        self.context = context
        self.holdsSlot = holdsSlot
        self.runsAlone = runsAlone
        began = context.runtime.now
        exchange = ExchangeRecord(now: began)
    }

    var runningTask: RunningTask {
        RunningTask(
            id: task.id, session: task.session, lane: task.lane, origin: task.origin, constraints: task.constraints)
    }

    // MARK: Time, slot, rate

    /// The milliseconds until the resource time-out (the longest permitted time until the end of the task) is over.
    var remainingMilliseconds: Int64 { context.calendar.remainingMilliseconds(of: task, configuration) }

    func releaseSlot() {
        guard holdsSlot else { return }
        holdsSlot = false
        context.scheduler.released(task.lane)
    }

    /// Allows the lane to start other tasks, because the server has responded or the attempt is over.
    func endRunningAlone() {
        guard runsAlone else { return }
        runsAlone = false
        context.scheduler.endedRunningAlone(task.lane)
    }

    /// Whether a rate limit applies to the task. If so, the task uses HTTP/1.1 with its own connection. A paused HTTP/2
    /// stream would block the other streams of its connection, and libcurl 7.88 would buffer up to 10 MiB of the paused
    /// stream.
    private var isLimited: Bool { context.rates.isLimited(task.id, of: task.session) }

    var waitsForRate: Bool { context.rates.isWaiting(task.id) }

    func takeFromRate(_ count: Int) { context.rates.moved(count, by: task.id, of: task.session) }

    /// Continues a paused transfer.
    func resumeTransfer() {
        // The engine caused the pause, so the pause does not count as silence of the server.
        exchange.lastByte = context.runtime.now
        transfer?.resume()
        transfer?.resumeSending()
    }

    // MARK: Bytes

    /// Counts body bytes that were received or sent.
    func moved(_ count: Int) {
        exchange.moved(count, now: context.runtime.now)
        context.apply(context.budgets.moved(count, by: task))
    }

    /// The sent bytes of all attempts.
    var bytesSent: UInt64 { task.bytesSent &+ exchange.bytesSent(transfer) }

    var bodySent: UInt64 { exchange.bodySent(transfer) }

    /// The requests of all attempts.
    var requests: UInt32 { task.attempts &+ exchange.requests }

    // MARK: Requests

    var mayRepeat: Bool { policy.mayRepeat(task.request.method) }

    func request(from offset: UInt64 = 0, ifRange: String? = nil) -> TransferRequest {
        var headers = task.request.headers
        if let type = feed?.layout.contentType { headers.append(HeaderField("Content-Type", type)) }
        var session = configuration
        if task.request.isCrossOrigin { session.headers = [] }
        var request = TransferRequest(
            url: task.request.url, headers: headers, origin: task.origin, session: session, policy: policy,
            credentials: context.credentials[task.session])
        request.offset = offset
        request.ifRange = ifRange
        request.secrets = refreshedSecrets
        request.bypassesDNSCache = task.attempts > 0
        request.method = task.request.method
        request.canBeRepeated = mayRepeat
        // The server may demand another credential, so it has to respond before a large body is sent.
        if runsAlone, let size = feed?.size, size >= Self.awaitedBodySize { request.expectation = .always }
        if isLimited, request.httpVersion == .standard { request.httpVersion = .http1 }
        return request
    }

    /// If a body has at least this many bytes, the server has to respond before the body is sent. This applies only
    /// while `runsAlone` is true.
    private static let awaitedBodySize: UInt64 = 64 << 10

    /// The secrets in the new headers of a request. The host (the program that embeds the library) gives new headers
    /// when the old headers have expired.
    private var refreshedSecrets: SecretRedactor {
        var secrets = SecretRedactor()
        if let refreshed = task.refreshed { secrets.add(.headers(refreshed.headers)) }
        return secrets
    }

    func start(_ request: TransferRequest, _ runner: some TransferRunner & TransferDelegate) throws(Failure) {
        let started = try context.transport.start(
            request, body: runner.limited(feed), cookies: context.cookies.jar(of: task.session), runner)
        transfer = started
        feed?.transfer = started
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

    /// The origin that sent the response after redirects; nil if this is the task's own origin. A portal (the login
    /// page of a network) may have sent the redirects.
    func redirectTarget(_ head: ResponseHead) -> Origin? {
        guard head.finalURL != task.request.url, let last = try? URLParser.origin(of: head.finalURL),
            last != task.origin
        else { return nil }
        return last
    }

    // MARK: Commits

    /// The failure of the last commit; nil if that commit succeeded.
    var commitFailure: Failure? { failedCommit?.failure }

    /// Commits again after a second. The store's file system may have space then, and nothing is lost meanwhile.
    func retryCommit(after failure: Failure, _ commit: @escaping () -> Void) {
        let timer = context.runtime.timer {
            commit()
            return []
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
        context.runtime.store(body, mayBeDelayed: mayBeDelayed, then: { [self] result in
            if context.transfers.isRunning(self) { then(result) }
            return []
        })
    }

    /// Returns a function that another thread calls once. `then` runs on the loop if this attempt still runs.
    func returning<Value: Sendable>(_ then: @escaping (Value) -> Void) -> @Sendable (Value) -> Void {
        context.runtime.returning { [self] (value: Value) in
            if context.transfers.isRunning(self) { then(value) }
            return []
        }
    }
}
