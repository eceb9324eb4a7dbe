internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// One attempt of a task: the state that a download and an upload have in common.
final class RunningAttempt {
    /// Why an attempt stops before its task has ended.
    enum Departure {
        case cancelled, preempted, held
    }

    /// A server or proxy asks for a credential.
    struct Authentication {
        /// What it asks for, until what comes of that is durable.
        var demand: AuthenticationDemand?
        /// The credential that was sent to it.
        var sentCredential: UInt64?
        /// Not to be kept, although a server may repeat them.
        var secrets = SentSecrets()
    }

    /// A commit that failed for now, and its repetition.
    private struct FailedCommit {
        let failure: Failure
        let timer: any RuntimeTimer
    }

    /// Tells this attempt from an earlier one of the same task, whose results may still come.
    let number: UInt64
    let configuration: SessionConfiguration
    let policy: TransferPolicy
    let context: TransferContext
    /// By the loop's clock.
    let began: Int64
    var task: StoredTask
    private(set) var holdsSlot: Bool
    /// Its lane starts one task at a time, and it is not known yet how the server takes this one.
    var isProbe: Bool
    var transfer: Transfer?
    /// Of a request with a body.
    var feed: BodyFeed?
    var exchange: ExchangeRecord
    var authentication = Authentication()
    var departure: Departure?
    /// State and reason of the task when it runs no more.
    var left: (TaskState, WaitReason) = (.suspended, .suspended)
    private var failedCommit: FailedCommit?

    init(
        _ task: StoredTask, _ configuration: SessionConfiguration, _ context: TransferContext, holdsSlot: Bool,
        isProbe: Bool
    ) {
        number = context.transfers.newAttempt()
        self.task = task
        self.configuration = configuration
        policy = TransferPolicy(configuration, task.request.options.policy)
        self.context = context
        self.holdsSlot = holdsSlot
        self.isProbe = isProbe
        began = context.runtime.now
        exchange = ExchangeRecord(now: began)
    }

    var runningTask: RunningTask {
        RunningTask(
            id: task.id, session: task.session, lane: task.lane, origin: task.origin, constraints: task.constraints)
    }

    // MARK: Time, slot, rate

    /// Until the resource time-out.
    var remainingMilliseconds: Int64 { context.calendar.remainingMilliseconds(of: task, configuration) }

    func releaseSlot() {
        guard holdsSlot else { return }
        holdsSlot = false
        context.scheduler.released(task.lane)
    }

    /// It is known how the server takes the request.
    func endProbe() {
        guard isProbe else { return }
        isProbe = false
        context.scheduler.endedProbe(task.lane)
    }

    /// A paused stream of HTTP/2 holds up all others of its connection, and libcurl 7.88 keeps up to 10 MiB of it: a
    /// limited task has a connection of its own.
    private var isLimited: Bool { context.rates.isLimited(task.id, of: task.session) }

    var waitsForRate: Bool { context.rates.isWaiting(task.id) }

    func takeFromRate(_ count: Int) { context.rates.moved(count, by: task.id, of: task.session) }

    /// Bytes may move again.
    func goOn() {
        // The silence was ours.
        exchange.lastByte = context.runtime.now
        transfer?.resume()
        transfer?.resumeSending()
    }

    // MARK: Bytes

    /// Body bytes came or went.
    func moved(_ count: Int) {
        exchange.moved(count, now: context.runtime.now)
        context.apply(context.budgets.moved(count, by: task))
    }

    /// Over all attempts.
    var bytesSent: UInt64 { task.bytesSent &+ exchange.bytesSent(transfer) }

    var bodySent: UInt64 { exchange.bodySent(transfer) }

    /// Over all attempts.
    var requests: UInt32 { task.attempts &+ exchange.requests }

    // MARK: Requests

    var mayRepeat: Bool { policy.mayRepeat(task.request.method) }

    func request(from offset: UInt64 = 0, ifRange: String? = nil) -> TransferRequest {
        var headers = task.request.headers
        if let type = feed?.layout.contentType { headers.append(HeaderField("Content-Type", type)) }
        var session = configuration
        if task.request.isElsewhere { session.headers = [] }
        var request = TransferRequest(
            url: task.request.url, headers: headers, origin: task.origin, session: session, policy: policy,
            credentials: context.credentials[task.session])
        request.offset = offset
        request.ifRange = ifRange
        request.secrets = refreshedSecrets
        request.looksUpAgain = task.attempts > 0
        request.method = task.request.method
        request.canBeRepeated = mayRepeat
        // It is not known how the server takes the request: it is asked before a large body is sent.
        if isProbe, let size = feed?.size, size >= Self.probedBodySize { request.expectation = .always }
        if isLimited, request.httpVersion == .standard { request.httpVersion = .http1 }
        return request
    }

    /// A smaller body is sent without asking.
    private static let probedBodySize: UInt64 = 64 << 10

    /// Secrets of a request that the host has renewed.
    private var refreshedSecrets: SentSecrets {
        var secrets = SentSecrets()
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

    /// The server that sent this response in place of the task's origin: redirects are followed, also those of portals.
    func redirectTarget(_ head: ResponseHead) -> Origin? {
        guard head.finalURL != task.request.url, let last = try? WebAddress.origin(of: head.finalURL),
            last != task.origin
        else { return nil }
        return last
    }

    // MARK: Commits

    /// Why the last commit failed; nil when it did not.
    var uncommitted: Failure? { failedCommit?.failure }

    /// Commits once more in a second: the store's file system may have space again, and nothing is lost meanwhile.
    func commitAgain(after failure: Failure, _ commit: @escaping () -> Void) {
        let timer = context.runtime.timer {
            commit()
            return []
        }
        failedCommit = FailedCommit(failure: failure, timer: timer)
        timer.start(milliseconds: 1_000)
    }

    /// Runs `body` in a transaction, and `then` on the loop if this attempt still runs.
    func store<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value,
        then: @escaping (Result<Value, Failure>) -> Void
    ) {
        context.runtime.store(body, then: { [self] result in
            if context.transfers.isRunning(self) { then(result) }
            return []
        })
    }

    /// A function for another thread to call once: `then` runs on the loop if this attempt still runs.
    func returning<Value: Sendable>(_ then: @escaping (Value) -> Void) -> @Sendable (Value) -> Void {
        context.runtime.returning { [self] (value: Value) in
            if context.transfers.isRunning(self) { then(value) }
            return []
        }
    }
}
