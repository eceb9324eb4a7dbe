internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// The end of an attempt: its task ends, is tried again, or waits.
extension TransferRunner {
    /// Ends the task. `also` is part of the same transaction.
    func end(_ outcome: Outcome, with also: (@Sendable (Transaction) throws(Failure) -> Void)? = nil) {
        var outcome = outcome
        let secrets = attempt.authentication.secrets
        if outcome.state != .succeeded, let head { outcome.answer = AnswerSummary(head, secrets) }
        let errorBody = attempt.exchange.errorBody
        if outcome.state == .failed, !errorBody.isEmpty {
            outcome.answer.errorBody = secrets.redacted(errorBody, isCut: errorBody.count >= Limits.errorBodySize)
        }
        let task = attempt.task
        outcome.attempts = attempt.requests
        outcome.bytesReceived = bytesReceived
        outcome.bytesSent = attempt.bytesSent
        attempt.left = (outcome.state, .none)
        if task.refreshed?.url != nil { attempt.context.credentials.acceptedAddress(of: task.id, task.session) }
        let last = storedAttempt(.end, failure: outcome.failure)
        attempt.context.hooks.end(
            Ending(
                end: TaskEnd(task.id, outcome, attempt: last == attempt.exchange.recorded ? nil : last),
                attempt: attempt.number, session: task.session, also: also))
    }

    /// Tries the task again, or fails it. `failed`: the facts that the runner has; this function adds the others.
    func retry(_ failed: FailedAttempt, _ checkpoint: Checkpoint?) {
        let (task, context) = (attempt.task, attempt.context)
        let failed = completed(failed)
        let decision = RetryDecision.decide(failed, attempt.policy, jitter: .random(in: 0..<1))
        context.transfers.setImmediateRepeats(decision == .atOnce ? failed.immediate + 1 : nil, of: task.id)
        var record = attemptRecord(checkpoint, failure: failed.failure)
        var wait: Int64 = 0
        switch decision {
        case .end: return take(.retryRefused)
        case .atOnce: break
        case .later(let milliseconds, let fruitless):
            record.attemptsWithoutProgress = fruitless
            wait = milliseconds
            record.wait(milliseconds, for: .retry)
        case .whenThereIsSpace(let milliseconds):
            wait = milliseconds
            record.wait(milliseconds, for: .diskFull)
        case .whenUplinkLeads:
            attempt.left = (.waiting, .portal)
            record.attempt = storedAttempt(.stopped, failure: failed.failure)
            return commit(record)
        case .whenConnected:
            record.attempts = task.attempts
            let (untilLook, effects) = context.reachability.hold(task)
            context.apply(effects)
            // After the lane's next check, which releases all its tasks, so that no second one follows.
            record.wait(min(untilLook + 1_000, max(0, attempt.remainingMilliseconds)), for: .connectivity)
            return commit(record)
        }
        record.attempt = storedAttempt(
            .retry, failure: failed.failure, nextAttemptMilliseconds: Clock.wallMilliseconds + wait)
        commit(record)
    }

    private func completed(_ failed: FailedAttempt) -> FailedAttempt {
        let (task, context) = (attempt.task, attempt.context)
        let circumstances = attempt.exchange.circumstances
        var failed = failed
        failed.method = task.request.method
        failed.surelyNotProcessed = circumstances.surelyNotProcessed
        failed.wentAway = circumstances.wentAway
        failed.hasNoWay = context.reachability.isUnreachable(task, failed.failure, circumstances)
        // Without a route the cause is clear, and the kernel reports when there is a route.
        if !failed.hasNoWay { noteUplink(failed.failure) }
        failed.isOfUplink = context.uplink.isHeld(for: task)
        failed.madeProgress = madeProgress
        failed.fruitless = task.attemptsWithoutProgress
        failed.immediate = context.transfers.immediateRepeats(of: task.id)
        failed.remainingMilliseconds = attempt.remainingMilliseconds
        return failed
    }

    /// The task stops without a failure: it was suspended, held or preempted, or the engine stops.
    func stop(_ checkpoint: Checkpoint?, isUnderWay: Bool = false) {
        var record = attemptRecord(checkpoint)
        record.attempt = storedAttempt(.stopped)
        record.isUnderWay = isUnderWay
        commit(record)
    }

    /// The record of this attempt for the store, when the task waits.
    func attemptRecord(_ checkpoint: Checkpoint?, failure: Failure? = nil) -> AttemptRecord {
        var record = AttemptRecord(
            attempts: attempt.requests, attemptsWithoutProgress: attempt.task.attemptsWithoutProgress,
            bytesReceived: bytesReceived, failure: failure, httpStatus: failure == nil ? 0 : head?.status ?? 0,
            checkpoint: checkpoint)
        record.furthestOffset = furthest
        record.bytesSent = attempt.bytesSent
        return record
    }

    func commit(_ record: AttemptRecord) {
        let (id, lane, scheduler) = (attempt.task.id, attempt.task.lane, attempt.context.scheduler)
        if record.nextAttempt != nil || record.reason != .none { attempt.left = (.waiting, record.reason) }
        attempt.store({ (transaction) throws(Failure) in
            try transaction.attempts.record(id, record)
        }, then: { [self] result in
            switch result {
            case .success:
                take(.concluded)
                scheduler.due(at: record.nextAttempt)
                // Without a delay the task waits for a slot again, unless it is suspended or has ended.
                if record.nextAttempt == nil { scheduler.tasksWait(in: [lane], reload: false) }
            case .failure(let failure):
                attempt.commitAgain(after: failure) { [unowned self] in commit(record) }
            }
        })
    }

    var bytesReceived: UInt64 { attempt.task.bytesReceived &+ receivedInAttempt }

    /// The attempt for listings; nil: no request was sent.
    func storedAttempt(_ next: AttemptNext, failure: Failure? = nil, nextAttemptMilliseconds: Int64 = 0) -> Attempt? {
        let exchange = attempt.exchange
        guard exchange.requests > 0 else { return nil }
        var stored = Attempt(task: attempt.task.id, number: attempt.requests, next: next)
        stored.nextAttemptMilliseconds = nextAttemptMilliseconds
        stored.failure = failure
        stored.httpStatus = head?.status ?? 0
        stored.offset = exchange.requestOffset
        stored.endOffset = file?.offset ?? 0
        stored.metrics = exchange.metrics
        stored.metrics.responseBodyBytes = max(exchange.metrics.responseBodyBytes, receivedInAttempt)
        let request = attempt.task.request
        let url = head?.finalURL ?? attempt.authentication.secrets.redacted(exchange.metrics.url)
        // The request's own URL is not stored again with each attempt, unless the next request may have another.
        let isRequests = url == request.url && request.options.refresh != .url
        stored.metrics.url = isRequests ? "" : url
        return stored
    }
}

extension AttemptRecord {
    fileprivate mutating func wait(_ milliseconds: Int64, for reason: WaitReason) {
        nextAttempt = Clock.bootMilliseconds + milliseconds
        self.reason = reason
    }
}
