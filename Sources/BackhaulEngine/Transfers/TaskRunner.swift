internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// What the engine tells any task that runs.
enum RunnerEvent: Equatable {
    case start
    /// What the runner has concluded is durable.
    case concluded
    /// In place of `concluded`: there is no further try, so the task is to fail.
    case retryRefused
    /// The host cancelled the task: its row has ended.
    case cancel
    /// The task was suspended, or the engine stops: keep what is there.
    case leave
    /// The task's time is over.
    case expire(Failure)
    /// Once a second.
    case tick
    case transferComplete
    case transferFailed(Failure, isTransient: Bool)
}

/// One attempt of a task: what a download and an upload have in common. A class, so that both are ended, tried again
/// and parked by the same code.
class TaskRunner {
    var task: StoredTask
    /// Tells this runner from an earlier one of the same task, whose answers may still be on their way.
    let attempt: UInt64
    let configuration: SessionConfiguration
    let policy: TransferPolicy
    unowned let core: EngineCore
    var transfer: Transfer?
    /// Of a request with a body.
    var feed: BodyFeed?
    /// Of the body, over the transfers that this attempt has had.
    private var sentBefore: UInt64 = 0
    var errorBody: [UInt8] = []
    var holdsTurn: Bool
    var requests: UInt32 = 0
    var rate = RateMeter()
    var lastByte: Int64
    var concludingTimer: LoopTimer?
    /// Why the store could not commit the last thing that the runner wrote; nil when it could.
    private(set) var uncommitted: Failure?
    /// Its lane tries one task at a time, and how this one is taken is not known yet.
    var isProbe = false
    /// A server or proxy has asked for a credential, and what comes of that is not durable yet.
    var demand: AuthenticationDemand?
    /// The answer that was sent to whoever asks.
    var sentAnswer: UInt64?
    /// Not to be kept, although a server may repeat it.
    var secrets = SentSecrets()
    /// Of the transfer that failed.
    var circumstances = FailureCircumstances()
    /// Of the attempt's request, as far as it came.
    var metrics = TransferMetrics()
    /// Of the file: where the request began.
    private var requestOffset: UInt64 = 0
    /// What the store has of this attempt already.
    var recordedAttempt: Attempt?
    private(set) var wasCancelled = false
    private(set) var gaveWay = false
    /// It is held back, and on its way out.
    var isDeferred = false
    /// By the loop's clock.
    let began: Int64
    /// What it is when it runs no more.
    var left: (TaskState, WaitReason) = (.suspended, .suspended)

    init(task: StoredTask, configuration: SessionConfiguration, core: EngineCore, holdsTurn: Bool) {
        self.task = task
        attempt = core.transfers.newAttempt()
        self.configuration = configuration
        policy = TransferPolicy(configuration, task.request.options.policy)
        self.core = core
        self.holdsTurn = holdsTurn
        began = core.loop.now
        lastByte = began
    }

    // MARK: What each kind says of itself

    var isFinishing: Bool { false }
    /// The body is here, and only its end is to be told.
    var hasAllBytes: Bool { false }
    /// Of the answer, when it has come.
    var head: ResponseHead? { nil }
    /// Body bytes of this attempt.
    var receivedInAttempt: UInt64 { 0 }
    /// How far any attempt has come.
    var furthest: UInt64 { 0 }
    /// This attempt made bytes durable that the next one can continue.
    var madeProgress: Bool { false }
    func take(_ event: RunnerEvent) {}
    /// What would have to be moved once more, should it stop now.
    var bytesAtStake: UInt64 { bodySent }
    /// Of the file that is made: how much is here, and how much it will be.
    var file: (offset: UInt64, size: UInt64?)? { nil }
    /// Of the request's body, where it is what the task is about.
    var body: (sent: UInt64, size: UInt64?)? { nil }
    /// The sentence for what is done when no more bytes are waited for.
    var finishing: String? { nil }
    /// Nothing has been heard of the server.
    var isUnanswered: Bool { head == nil }
    /// Bytes that come can be taken now.
    var takesBytes: Bool { true }
    /// What a silent server has done.
    var silentWord: String { "sent nothing" }

    // MARK: What all do

    func start() {
        take(timeIsOver ? .expire(Self.timeOver) : .start)
    }

    func tick() {
        rate.tick()
        take(timeIsOver ? .expire(Self.timeOver) : .tick)
    }

    func cancel() {
        wasCancelled = true
        take(.cancel)
    }

    /// An urgent task gets its place.
    func giveWay() {
        gaveWay = true
        left = (.waiting, .turn)
        take(.leave)
    }

    var mayGiveWay: Bool { holdsTurn && !isFinishing && !gaveWay && !wasCancelled && !isDeferred }

    var candidate: LeastImportant.Candidate {
        LeastImportant.Candidate(
            task: task.id, priority: task.request.priority, bytesLost: bytesAtStake, start: attempt)
    }

    private var timeIsOver: Bool { remainingMilliseconds <= 0 }

    /// Until the resource time-out.
    var remainingMilliseconds: Int64 { core.calendar.remainingMilliseconds(of: task, configuration) }

    private static let timeOver = Failure(
        .resourceTimeout, "the task did not end within its resource time-out")

    /// A request is about to be sent, for the file from this byte on.
    func noteRequest(from offset: UInt64 = 0) {
        requests += 1
        requestOffset = offset
        lastByte = core.loop.now
        metrics.startedMilliseconds = Clock.wallMilliseconds
    }

    private func noteMetrics(of transfer: Transfer) {
        let started = metrics.startedMilliseconds
        metrics = transfer.metrics
        if metrics.startedMilliseconds == 0 { metrics.startedMilliseconds = started }
    }

    /// The attempt as it is listed; nil when nothing was sent.
    func attempt(_ next: AttemptNext, failure: Failure? = nil, nextAttemptMilliseconds: Int64 = 0) -> Attempt? {
        guard requests > 0 else { return nil }
        let head = head
        var attempt = Attempt(task: task.id, number: task.attempts &+ requests, next: next)
        attempt.nextAttemptMilliseconds = nextAttemptMilliseconds
        attempt.failure = failure
        attempt.httpStatus = head?.status ?? 0
        attempt.offset = requestOffset
        attempt.endOffset = file?.offset ?? 0
        attempt.metrics = metrics
        attempt.metrics.responseBodyBytes = max(metrics.responseBodyBytes, receivedInAttempt)
        let url = head?.finalURL ?? secrets.redacted(metrics.url)
        // The request's own need not be stored again with each attempt, unless it will be another.
        let isRequests = url == task.request.url && task.request.options.refresh != .url
        attempt.metrics.url = isRequests ? "" : url
        return attempt
    }

    var bytesReceived: UInt64 { task.bytesReceived &+ receivedInAttempt }

    /// Over all attempts.
    var bytesSent: UInt64 { task.bytesSent &+ sentBefore &+ (transfer?.bytesSent ?? 0) }

    /// Of the request that is under way, or was the last.
    var bodySent: UInt64 { transfer?.bodySent ?? sentOfLast }
    private var sentOfLast: UInt64 = 0

    func noteSent(_ count: Int) {
        lastByte = core.loop.now
        rate.add(count)
        core.apply(core.budgets.moved(count, by: task))
    }

    /// The transfer is over: what it has sent stays.
    private func noteEnd(of transfer: Transfer) {
        sentBefore &+= transfer.bytesSent
        sentOfLast = transfer.bodySent
        noteMetrics(of: transfer)
        self.transfer = nil
    }

    /// What the end of its transfer is to the runner.
    func ended(_ transfer: Transfer, _ end: TransferEnd) -> RunnerEvent {
        noteEnd(of: transfer)
        switch end {
        case .complete, .refused: return .transferComplete
        case .failed(let failure, let isTransient, let circumstances):
            self.circumstances = circumstances
            return .transferFailed(failure, isTransient: isTransient)
        }
    }

    /// Keeps the first bytes of a body.
    func collect(_ bytes: RawSpan, into body: inout [UInt8], atMost limit: Int) {
        let room = max(0, limit - body.count)
        bytes.withUnsafeBytes { body.append(contentsOf: $0.prefix(room)) }
    }

    func stopTransfer() {
        guard let transfer else { return }
        noteEnd(of: transfer)
        transfer.cancel()
    }

    func releaseTurn() {
        guard holdsTurn else { return }
        holdsTurn = false
        core.scheduler.released(task.lane)
    }

    /// Commits once more in a second: the store's file system may have space again, and nothing is lost meanwhile.
    func again(after failure: Failure, _ body: @escaping () -> Void) {
        uncommitted = failure
        let timer = core.loop.timer { body() }
        concludingTimer = timer
        timer.start(milliseconds: 1_000)
    }
}
