internal import BackhaulConditions
internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// An event from the engine for a running task.
enum RunnerEvent: Equatable {
    case start
    /// The conclusion of the runner is in the store.
    case concluded
    /// Sent in place of `concluded`: there is no further attempt, so the task fails.
    case retryRefused
    /// The host cancelled the task, and its row has ended.
    case cancel
    /// The task was suspended, held or preempted, or the engine stops. Received bytes are kept.
    case leave
    /// The task's resource time-out is over.
    case expire(Failure)
    /// Sent once a second.
    case tick
    case transferComplete
    case transferFailed(Failure, isTransient: Bool)
}

/// Runs one attempt of a task: `DownloadRunner` or `UploadRunner`. Both have a `RunningAttempt`. The extensions of this
/// protocol have the functions that both share.
protocol TransferRunner: AnyObject {
    var attempt: RunningAttempt { get }
    func take(_ event: RunnerEvent)

    var isFinishing: Bool { get }
    /// Whether all bytes of the body have arrived, and only its end is missing.
    var hasAllBytes: Bool { get }
    /// The head of the response; nil: none has come yet.
    var head: ResponseHead? { get }
    /// The body bytes that this attempt has received.
    var receivedInAttempt: UInt64 { get }
    /// The greatest offset that any attempt has reached.
    var furthest: UInt64 { get }
    /// Whether this attempt made bytes durable, after which the next one can continue.
    var madeProgress: Bool { get }
    /// The bytes that would have to be transferred again if the attempt stopped now.
    var bytesAtStake: UInt64 { get }
    /// The present length and the final size of the downloaded file; nil for an upload.
    var file: (offset: UInt64, size: UInt64?)? { get }
    /// The sent bytes and the size of an upload's body; nil for a download.
    var body: (sent: UInt64, size: UInt64?)? { get }
    /// The sentence for the work after the last byte; nil: there is none yet.
    var finishing: String? { get }
    /// Whether the server has not reacted yet.
    var isUnanswered: Bool { get }
    /// Whether received bytes can be taken now.
    var takesBytes: Bool { get }
    /// The verb of the sentence about a silent server.
    var silentWord: String { get }
}

// MARK: Start and stop

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

    /// Stops the task, so that a more important one gets its slot.
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

    /// Stops a task that became held. It receives no more bytes, and its received bytes are synced.
    func deferred(for reason: WaitReason) {
        guard mayBeDeferred else { return }
        attempt.left = (.waiting, reason)
        attempt.departure = .held
        take(.leave)
    }

    /// Whether the task may stop for a hold. False when it has all bytes, and when the server may have processed a
    /// request that must not be repeated.
    var mayBeDeferred: Bool {
        let isUnsafe = attempt.exchange.requests > 0 && !attempt.mayRepeat
        return !isFinishing && !hasAllBytes && attempt.departure == nil && attempt.task.intent == nil && !isUnsafe
    }

    // MARK: Bytes

    /// Whether a byte may be received or sent now. If not, `goOn` is called when it may.
    func mayMove() -> Bool {
        let budgets = attempt.context.budgets
        if budgets.isDeciding, mayBeDeferred, !budgets.mayMove(attempt.task) { return false }
        return attempt.context.rates.mayMove(attempt.task.id, of: attempt.task.session)
    }

    /// Whether the attempt waits only for the network, and not for a rate limit, the disk or the server's response.
    var waitsForNetwork: Bool {
        attempt.transfer != nil && !isUnanswered && !attempt.waitsForRate && !isFinishing && takesBytes
    }

    // MARK: The transport

    /// Makes the source of the request's body; nil: the request has none.
    func makeFeed(opened: @escaping () -> Void = {}, failed: @escaping (Failure) -> Void) -> BodyFeed? {
        guard let body = attempt.task.request.options.body else { return nil }
        return BodyFeed(BodyLayout(body), of: attempt, opened: opened, failed: failed)
    }

    /// The body, limited to the rate of the task.
    func limited(_ body: (any TransferBody)?) -> (any TransferBody)? { body.map { LimitedBody($0, self) } }

    /// The runner's event for the end of its transfer.
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

    /// Reports the end of the attempt to the monitor of the uplink.
    func noteUplink(_ failure: Failure?) {
        guard attempt.exchange.requests > 0 else { return }
        let ending = UplinkWatch.Ending(
            failure, redirectedTo: head.flatMap(attempt.redirectTarget), hasAnswered: head != nil,
            wasRefused: Routes.isRefused(attempt.exchange.circumstances.systemError))
        attempt.context.apply(attempt.context.uplink.ended(attempt.task, ending))
    }
}
