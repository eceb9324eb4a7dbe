internal import BackhaulConditions
internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// An event from the engine for a running task.
enum RunnerEvent: Equatable {
    case start
    /// The store has recorded how the attempt has ended.
    case concluded
    /// There is no further attempt, so the task fails. The runner gets this event instead of `concluded`.
    case retryRefused
    /// The host cancelled the task. The store has already recorded the end of the task.
    case cancel
    /// The task was suspended, held or preempted, or the engine stops. Received bytes are kept.
    case stop
    /// The task's resource time-out is over.
    case expire(Failure)
    /// The engine sends this event once a second.
    case tick
    case transferComplete
    case transferFailed(Failure, isTransient: Bool)
}

/// Performs one attempt of a task. The two types of runners are `DownloadRunner` and `UploadRunner`. Each has a
/// `RunningAttempt`. The extensions of this protocol have the functions that both types share. The functions that other
/// parts may call return effects.
protocol TransferRunner: AnyObject {
    var attempt: RunningAttempt { get }
    /// Takes an event of this runner itself. Other parts call `take`.
    func process(_ event: RunnerEvent)

    var isFinishing: Bool { get }
    /// Whether all bytes of the body have arrived, and only the end of the response is missing.
    var hasAllBytes: Bool { get }
    /// The head of the response; nil if none has come yet.
    var head: ResponseHead? { get }
    /// The body bytes that this attempt has received.
    var receivedInAttempt: UInt64 { get }
    /// The greatest offset that any attempt has reached.
    var furthest: UInt64 { get }
    /// Whether this attempt made bytes durable, so that the next attempt can continue after these bytes.
    var madeProgress: Bool { get }
    /// Whether a response may demand a new URL or new header fields for the task's request.
    var mayBeRefreshed: Bool { get }
    /// Whether the request asks for the offset of an upload.
    var asksForOffset: Bool { get }
    /// Whether the next attempt sends only the bytes of an upload that the server does not have.
    var continuesUpload: Bool { get }
    /// The resource that the server has made for an upload; nil if none is known.
    var uploadResource: UploadResource? { get }
    /// The bytes that would have to be transferred again if the attempt stopped now.
    var bytesLostByStop: UInt64 { get }
    /// The present length and the final size of the downloaded file; nil for an upload.
    var file: (offset: UInt64, size: UInt64?)? { get }
    /// The sent bytes and the size of an upload's body; nil for a download.
    var body: (sent: UInt64, size: UInt64?)? { get }
    /// A sentence about work that needs no network, such as the recording of a response; nil if there is no such work
    /// now.
    var finishing: String? { get }
    /// Whether the request is about to be sent or is being sent, and no response head has arrived.
    var awaitsResponse: Bool { get }
    /// Whether the server has not reacted yet: it has sent no response, and accepted no byte of a request body.
    var hasNoResponse: Bool { get }
    /// The path of the file that the task reads or writes.
    var storagePath: String { get }
    /// What the task's reason says about a silent server, such as "sent nothing".
    var silenceDescription: String { get }
}

// MARK: Start and stop

extension TransferRunner {
    func take(_ event: RunnerEvent) -> [EngineEffect] {
        process(event)
        return attempt.takeEffects()
    }

    func start() -> [EngineEffect] { hasTimedOut ? expire() : take(.start) }

    /// Ends the task, because its resource time-out is over. Never starts a transfer.
    func expire() -> [EngineEffect] { take(.expire(Self.timeoutFailure)) }

    func tick() -> [EngineEffect] {
        attempt.exchange.rate.tick()
        return hasTimedOut ? expire() : take(.tick)
    }

    private var hasTimedOut: Bool { attempt.remainingMilliseconds <= 0 }

    private static var timeoutFailure: Failure {
        Failure(.resourceTimeout, "the task did not end within its resource_timeout_ms")
    }

    func cancel() -> [EngineEffect] {
        attempt.stops(.cancelled)
        return take(.cancel)
    }

    /// Stops the task, because the engine stops.
    func stopForEngine() -> [EngineEffect] {
        if attempt.stopReason == nil { attempt.stops(.engineStops) }
        return take(.stop)
    }

    /// Stops the task, so that a more important task can run.
    func preempt() -> [EngineEffect] {
        attempt.stops(.preempted, (.waiting, .slot))
        return take(.stop)
    }

    var mayBePreempted: Bool {
        attempt.holdsSlot && !isFinishing && attempt.stopReason == nil && !hasSentUnrepeatableRequest
    }

    var preemptionCandidate: PreemptionPolicy.Candidate {
        PreemptionPolicy.Candidate(
            task: attempt.task.id, priority: attempt.task.request.priority, bytesLost: bytesLostByStop,
            start: attempt.terms.number)
    }

    /// Stops a task that became held, because a condition is not met. The task receives no more bytes, and its received
    /// bytes are synced.
    func deferred(for reason: WaitReason) -> [EngineEffect] {
        guard mayBeDeferred else { return [] }
        attempt.stops(.held, (.waiting, reason))
        return take(.stop)
    }

    /// Whether the task may stop because a condition is not met. False if the task has all bytes, or if the server may
    /// have processed a request that must not be repeated.
    var mayBeDeferred: Bool {
        !isFinishing && !hasAllBytes && attempt.stopReason == nil && attempt.task.intent == nil
            && !hasSentUnrepeatableRequest
    }

    /// Whether the server may have processed a request that must not be repeated.
    var hasSentUnrepeatableRequest: Bool {
        attempt.exchange.requests > 0 && !attempt.mayRepeat && !continuesUpload
    }

    /// The failure of the task, if an engine ended while a request was under way that must not be repeated.
    var interruption: Failure? {
        guard attempt.task.isUnderWay, !attempt.mayRepeat, !continuesUpload else { return nil }
        let (origin, method) = (attempt.task.origin.text, attempt.task.request.method)
        return Failure(
            .connectionLost,
            "an engine ended while the request was under way: \(origin) may have done what was asked, and "
                + "\(method) is repeated only if retry.unsafe_methods allows it")
    }

    /// Records that a request is under way that must not be repeated, and then sends the request. So after a crash, the
    /// next engine knows that the server may have processed the request.
    func recordUnderWay(then send: @escaping () -> Void) {
        let (id, attempts) = (attempt.task.id, attempt.task.attempts &+ 1)
        attempt.store(
            { (transaction) throws(Failure) in
                try transaction.attempts.recordUnderWay(id, attempts: attempts)
            },
            then: { [self] result in
                guard awaitsResponse else { return }
                switch result {
                case .success: send()
                case .failure(let failure):
                    attempt.exchange.failureContext.isUnprocessed = true
                    process(.transferFailed(failure, isTransient: true))
                }
            })
    }

    // MARK: Bytes

    /// Whether a byte may be received or sent now. If not, the engine calls `resumeTransfer` when a byte may be
    /// received or sent again.
    func mayMove() -> Bool { attempt.services.traffic.mayMove(attempt.task, mayStop: mayBeDeferred) }

    /// Whether the attempt waits only for the network, and not for a rate limit, the disk or the server's response.
    var waitsForNetwork: Bool {
        attempt.transfer?.isWaiting == false && !hasNoResponse && !attempt.waitsForRate && !isFinishing
    }

    // MARK: The transport

    /// Makes the source of the request's body; nil if the request has none. `range`: the bytes to send; nil: all.
    /// `continues`: whether the server has bytes of the body from an earlier request.
    func makeFeed(
        _ range: Range<UInt64>? = nil, continues: Bool = false, opened: @escaping () -> Void = {},
        failed: @escaping (Failure) -> Void
    ) -> BodyFeed? {
        guard let body = attempt.task.request.options.body else { return nil }
        return BodyFeed(
            BodyLayout(body, boundary: BodyLayout.boundary(of: attempt.task.part)), range, continues: continues,
            of: attempt, mayMove: { [weak self] in self?.mayMove() ?? true }, opened: opened,
            failed: { [weak self] failure in
                // Without a byte of its body and without a response, no server has acted on the request.
                if let self, head == nil, attempt.bodySent == 0 { attempt.exchange.failureContext.isUnprocessed = true }
                failed(failure)
            })
    }

    /// Stores the results of a transfer that has ended. Returns the event for the runner.
    func ended(_ transfer: Transfer, _ end: TransferEnd) -> RunnerEvent {
        attempt.transferEnded(transfer)
        switch end {
        case .complete, .refused: return .transferComplete
        case .failed(let failure, let isTransient, let failureContext):
            attempt.exchange.failureContext = failureContext
            return .transferFailed(failure, isTransient: isTransient)
        }
    }

    /// Notes that the sender has responded with a redirect. Asks whether to follow the redirect to an origin that has
    /// asked for a pause. A request that must not be repeated is never stopped, because the sender may have acted on
    /// it.
    func delayOfRedirect(from sender: Origin, to target: Origin) -> Int64? {
        note(.other) { sender }
        attempt.passEffects()
        return attempt.mayRepeat ? attempt.services.origins.delayOfRedirect(to: target) : nil
    }

    /// Notes what a response says about further requests to its origin.
    func note(_ response: OriginResponse, from origin: () -> Origin) {
        for effect in attempt.services.origins.responded(response, from: origin) { attempt.emit(effect) }
    }

    // MARK: The uplink

    /// What the end of the attempt says about the uplink; nil if no request was sent.
    func uplinkEnding(_ failure: Failure?) -> UplinkWatch.Ending? {
        guard attempt.exchange.requests > 0 else { return nil }
        return UplinkWatch.Ending(
            failure, redirectedTo: head.flatMap(attempt.redirectTarget), hasResponse: head != nil,
            wasRefused: Routes.isRefused(attempt.exchange.failureContext.systemError),
            hasLeftOrigin: attempt.hasLeftOrigin, isLocal: attempt.exchange.failureContext.isLocal)
    }

    func judgeUplink(_ failure: Failure?) {
        if let ending = uplinkEnding(failure) { attempt.emit(.uplinkJudged(ending)) }
    }
}
