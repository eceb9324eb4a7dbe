internal import BackhaulConditions
internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// Input of the engine to any running task.
enum RunnerEvent: Equatable {
    case start
    /// What the runner has concluded is durable.
    case concluded
    /// In place of `concluded`: there is no further attempt, so the task fails.
    case retryRefused
    /// The host cancelled the task: its row has ended.
    case cancel
    /// The task was suspended, held or preempted, or the engine stops: received bytes are kept.
    case leave
    /// The task's time is over.
    case expire(Failure)
    /// Once a second.
    case tick
    case transferComplete
    case transferFailed(Failure, isTransient: Bool)
}

/// Runs one attempt of a task: `DownloadRunner` or `UploadRunner`. Both have a `RunningAttempt`, and the extensions of
/// this protocol are what they do in the same way.
protocol TransferRunner: AnyObject {
    var attempt: RunningAttempt { get }
    func take(_ event: RunnerEvent)

    var isFinishing: Bool { get }
    /// The body is here, and only its end is to be reported.
    var hasAllBytes: Bool { get }
    /// Of the response, when it has come.
    var head: ResponseHead? { get }
    /// Body bytes of this attempt.
    var receivedInAttempt: UInt64 { get }
    /// The greatest offset that any attempt has reached.
    var furthest: UInt64 { get }
    /// This attempt made bytes durable that the next one can continue.
    var madeProgress: Bool { get }
    /// Bytes that would be moved once more if the attempt stopped now.
    var bytesAtStake: UInt64 { get }
    /// Of the file that is made: how much is here, and how much it will be.
    var file: (offset: UInt64, size: UInt64?)? { get }
    /// Of the request's body, where it is what the task is about.
    var body: (sent: UInt64, size: UInt64?)? { get }
    /// The sentence for what is done after the last byte.
    var finishing: String? { get }
    /// The server has not reacted yet.
    var isUnanswered: Bool { get }
    /// Received bytes can be taken now.
    var takesBytes: Bool { get }
    /// What a silent server has done.
    var silentWord: String { get }
}

// MARK: Starting and stopping

extension TransferRunner {
    func start() { take(timeIsOver ? .expire(Self.timeOver) : .start) }

    func tick() {
        attempt.exchange.rate.tick()
        take(timeIsOver ? .expire(Self.timeOver) : .tick)
    }

    private var timeIsOver: Bool { attempt.remainingMilliseconds <= 0 }

    private static var timeOver: Failure {
        Failure(.resourceTimeout, "the task did not end within its resource time-out")
    }

    func cancel() {
        attempt.departure = .cancelled
        take(.cancel)
    }

    /// A more important task gets its slot.
    func preempt() {
        attempt.departure = .preempted
        attempt.left = (.waiting, .slot)
        take(.leave)
    }

    var mayBePreempted: Bool { attempt.holdsSlot && !isFinishing && attempt.departure == nil }

    var preemptionCandidate: LeastImportant.Candidate {
        LeastImportant.Candidate(
            task: attempt.task.id, priority: attempt.task.request.priority, bytesLost: bytesAtStake,
            start: attempt.number)
    }

    /// A held task leaves at once: nothing more is received, and what is here is synced.
    func deferred(for reason: WaitReason) {
        guard mayBeDeferred else { return }
        attempt.left = (.waiting, reason)
        attempt.departure = .held
        take(.leave)
    }

    /// False when all bytes are here, and when the server may have done what was asked and must not be asked again.
    var mayBeDeferred: Bool {
        let isUnsafe = attempt.exchange.requests > 0 && !attempt.mayRepeat
        return !isFinishing && !hasAllBytes && attempt.departure == nil && attempt.task.intent == nil && !isUnsafe
    }

    // MARK: Moving bytes

    /// Whether a byte may be taken or sent now. If not, `goOn` is called when it may.
    func mayMove() -> Bool {
        let budgets = attempt.context.budgets
        if budgets.isDeciding, mayBeDeferred, !budgets.mayMove(attempt.task) { return false }
        return attempt.context.rates.mayMove(attempt.task.id, of: attempt.task.session)
    }

    /// The attempt waits neither for a rate of ours, nor for the disk, nor for the server's response.
    var waitsForNetwork: Bool {
        attempt.transfer != nil && !isUnanswered && !attempt.waitsForRate && !isFinishing && takesBytes
    }

    // MARK: The transport

    /// Reads the request's body from the disk; nil without one.
    func makeFeed(opened: @escaping () -> Void = {}, failed: @escaping (Failure) -> Void) -> BodyFeed? {
        guard let body = attempt.task.request.options.body else { return nil }
        return BodyFeed(BodyLayout(body), of: attempt, opened: opened, failed: failed)
    }

    /// The body as it may be sent.
    func limited(_ body: (any TransferBody)?) -> (any TransferBody)? { body.map { LimitedBody($0, self) } }

    /// What the end of its transfer is to the runner.
    func ended(_ transfer: Transfer, _ end: TransferEnd) -> RunnerEvent {
        attempt.transferEnded(transfer)
        switch end {
        case .complete, .refused: return .transferComplete
        case .failed(let failure, let isTransient, let circumstances):
            attempt.exchange.circumstances = circumstances
            return .transferFailed(failure, isTransient: isTransient)
        }
    }

    // MARK: The uplink

    /// What the end of the attempt says of the way to its origin.
    func noteUplink(_ failure: Failure?) {
        guard attempt.exchange.requests > 0 else { return }
        let ending = UplinkWatch.Ending(
            failure, redirectedTo: head.flatMap(attempt.redirectTarget), hasAnswered: head != nil,
            wasRefused: Routes.isRefused(attempt.exchange.circumstances.systemError))
        attempt.context.apply(attempt.context.uplink.ended(attempt.task, ending))
    }
}
