internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// The end of an attempt: the task ends, is tried again, or waits.
extension TransferRunner {
    /// Ends the task. `also` runs in the transaction that records the task's end.
    func end(_ outcome: Outcome, with also: (@Sendable (Transaction) throws(Failure) -> Void)? = nil) {
        var outcome = outcome
        let secrets = attempt.authentication.secrets
        if outcome.state != .succeeded, let head { outcome.response = ResponseSummary(head, secrets) }
        let errorBody = attempt.exchange.errorBody
        if outcome.state == .failed, !errorBody.isEmpty {
            outcome.response.errorBody = secrets.redactedMessage(
                errorBody, isCut: errorBody.count >= Limits.errorBodySize)
        }
        let task = attempt.task
        outcome.attempts = attempt.requests
        outcome.bytesReceived = bytesReceived
        outcome.bytesSent = attempt.bytesSent
        attempt.stoppedState = (outcome.state, .none)
        if task.refreshed?.url != nil { attempt.emit(.urlAccepted) }
        let last = storedAttempt(.end, failure: outcome.failure)
        attempt.conclude(last)
        attempt.emit(
            .writeEnd(
                Ending(
                    end: TaskEnd(task.id, outcome, attempt: last == attempt.exchange.recorded ? nil : last),
                    attempt: attempt.terms.number, session: task.session,
                    hasSentUnrepeatableRequest: hasSentUnrepeatableRequest, also: also)))
    }

    /// Tries the task again, or fails it. `EngineLoop` adds the facts that other parts have, and calls `decideRetry`.
    func retry(_ failed: FailedAttempt, _ checkpoint: Checkpoint?) {
        attempt.emit(.decideRetry(completed(failed), checkpoint))
    }

    func decideRetry(_ failed: FailedAttempt, _ checkpoint: Checkpoint?) -> [EngineEffect] {
        let jitter = attempt.services.runtime.randomFraction()
        let decision = RetryDecision.decide(failed, attempt.terms.policy, jitter: jitter)
        attempt.emit(.repeats(failed.repeats(after: decision)))
        apply(decision, failed, checkpoint)
        return attempt.takeEffects()
    }

    private func apply(_ decision: RetryDecision, _ failed: FailedAttempt, _ checkpoint: Checkpoint?) {
        var record = attemptRecord(checkpoint, failure: failed.failure)
        let clocks = attempt.services.runtime.clocks
        let boot = clocks.bootMilliseconds
        var wait: Int64 = 0
        switch decision {
        case .end: return process(.retryRefused)
        case .immediately: break
        case .later(let milliseconds, let consecutiveFailures):
            record.attemptsWithoutProgress = consecutiveFailures
            wait = milliseconds
            record.wait(until: boot + milliseconds, for: failed.isOriginPaused ? .origin : .retry)
        case .whenSpaceIsFree(let milliseconds):
            wait = milliseconds
            record.wait(until: boot + milliseconds, for: .diskFull)
        case .whenStorageReturns(let milliseconds):
            wait = milliseconds
            record.wait(until: boot + milliseconds, for: .storage)
            attempt.emit(.waitForStorage(storagePath))
        case .whenUplinkIsUp:
            attempt.stoppedState = (.waiting, .portal)
            record.attempt = storedAttempt(.stopped, failure: failed.failure)
            return commit(record)
        case .whenOriginAllows(let milliseconds):
            record.attempts = attempt.task.attempts
            record.wait(until: boot + milliseconds, for: .origin)
            let (task, hold) = (attempt.task, Hold(.origin, failed.failure.message))
            attempt.emit(.waitBegan(.redirect(task.id), [WaitScope(task.session, task: task.id)], hold))
            return commit(record)
        case .whenClockIsSet(let milliseconds):
            record.attempts = attempt.task.attempts
            record.wait(until: boot + milliseconds, for: .clock)
            return commit(record)
        case .whenReachable:
            record.attempts = attempt.task.attempts
            return attempt.emit(.waitForRoute(record))
        }
        record.attempt = storedAttempt(
            .retry, failure: failed.failure, nextAttemptMilliseconds: clocks.wallMilliseconds + wait)
        commit(record)
    }

    /// Commits that the task waits for a route to its server. After `millisecondsUntilCheck` at the latest, the engine
    /// retries all tasks without a route. The due time of this task is one second later. So in most cases, the engine
    /// retries this task together with the other tasks, and the due time causes no extra attempt.
    func waitForRoute(_ record: AttemptRecord, _ millisecondsUntilCheck: Int64) -> [EngineEffect] {
        var record = record
        let wait = min(millisecondsUntilCheck + 1_000, max(0, attempt.remainingMilliseconds))
        record.wait(until: attempt.services.runtime.clocks.bootMilliseconds + wait, for: .connectivity)
        commit(record)
        return attempt.takeEffects()
    }

    private func completed(_ failed: FailedAttempt) -> FailedAttempt {
        let failureContext = attempt.exchange.failureContext
        var failed = failed
        failed.method = attempt.task.request.method
        failed.isUnprocessed = failureContext.isUnprocessed || attempt.exchange.requests == 0
        failed.connectionWasClosed = failureContext.connectionWasClosed
        failed.hasStreamError = failureContext.hasStreamError
        failed.isUnanswered = failureContext.isUnanswered
        failed.redirectDelay = failureContext.redirectDelay
        failed.isNotYetValid = failureContext.isNotYetValid
        if hasExpiredCredentials {
            failed.hasExpiredCredentials = true
            attempt.services.transport.expireS3Credentials(attempt.terms.policy.s3)
        }
        failed.madeProgress = madeProgress
        failed.continuesPart = file != nil && attempt.exchange.requestOffset > 0
        failed.consecutiveFailures = attempt.task.attemptsWithoutProgress
        failed.remainingMilliseconds = attempt.remainingMilliseconds
        return failed
    }

    /// Commits a stop without a failure. There are four reasons: the host has suspended the task, a condition such as
    /// power delays the task, a more important task runs instead, or the engine stops.
    func stop(_ checkpoint: Checkpoint?) {
        var record = attemptRecord(checkpoint)
        record.attempt = storedAttempt(.stopped)
        // A program that suspends and later resumes the task wants the request to be sent again. But if the engine
        // ends, no program has decided this. So in this case, a sent request that must not be repeated is recorded as
        // under way.
        // A request without a body is sent completely with its head.
        let hasSentBytes = attempt.bodySent > 0 || attempt.feed?.size ?? 0 == 0
        record.isUnderWay = attempt.stopReason == .engineStops && hasSentUnrepeatableRequest && hasSentBytes
        commit(record)
    }

    /// The record of this attempt for the store, if the task waits after the attempt.
    func attemptRecord(_ checkpoint: Checkpoint?, failure: Failure? = nil) -> AttemptRecord {
        var record = AttemptRecord(
            attempts: attempt.requests, attemptsWithoutProgress: attempt.task.attemptsWithoutProgress,
            bytesReceived: bytesReceived, failure: failure, httpStatus: failure == nil ? 0 : head?.status ?? 0,
            checkpoint: checkpoint)
        record.furthestOffset = furthest
        record.bytesSent = attempt.bytesSent
        // An earlier record of the resource may have failed, or may lack what the server has confirmed since then.
        record.uploadResource = uploadResource
        return record
    }

    func commit(_ record: AttemptRecord) {
        let (id, lane, priority) = (attempt.task.id, attempt.task.lane, attempt.task.request.priority)
        if record.nextAttempt != nil || record.reason != .none { attempt.stoppedState = (.waiting, record.reason) }
        attempt.store(
            { (transaction) throws(Failure) in
                try transaction.attempts.record(id, record)
            },
            then: { [self] result in
                switch result {
                case .success:
                    attempt.conclude(record.attempt)
                    process(.concluded)
                    attempt.emit(.due(at: record.nextAttempt))
                    // If the task has no delay, it waits for a slot again. So the scheduler must load it from the
                    // database again. If the task was suspended or has ended meanwhile, the load skips it.
                    if record.nextAttempt == nil {
                        attempt.emit(.tasksWait(in: [lane], reload: false, priority: priority))
                    }
                case .failure(let failure):
                    attempt.retryCommit(after: failure) { [unowned self] in commit(record) }
                }
            })
    }

    var bytesReceived: UInt64 { attempt.task.bytesReceived &+ receivedInAttempt }

    /// Returns the attempt in the form that the store keeps for listings. Returns nil if no request was sent.
    func storedAttempt(_ next: AttemptNext, failure: Failure? = nil, nextAttemptMilliseconds: Int64 = 0) -> Attempt? {
        // `exchange` is large, so only its parts are copied.
        guard attempt.exchange.requests > 0 else { return nil }
        var stored = Attempt(task: attempt.task.id, number: attempt.requests, next: next)
        stored.nextAttemptMilliseconds = nextAttemptMilliseconds
        stored.failure = failure
        stored.httpStatus = head?.status ?? 0
        stored.offset = attempt.exchange.firstOffset ?? 0
        stored.endOffset = file?.offset ?? 0
        stored.metrics = attempt.exchange.metrics
        stored.metrics.responseBodyBytes = max(stored.metrics.responseBodyBytes, receivedInAttempt)
        let request = attempt.task.request
        let url = head?.finalURL ?? attempt.authentication.secrets.redacted(stored.metrics.url)
        // The URL in the task's request is not stored a second time. Exception: if `refresh` is `.url`, the request may
        // get another URL later, so the URL of this attempt is stored in any case.
        let isRequests = url == request.url && request.options.refresh != .url
        // The target of a redirect may be a signed link, so its query is not stored.
        stored.metrics.url = isRequests ? "" : url == request.url ? url : ShownURL(url).withoutQuery
        return stored
    }
}

extension AttemptRecord {
    fileprivate mutating func wait(until time: Int64, for reason: WaitReason) {
        nextAttempt = time
        self.reason = reason
    }
}
