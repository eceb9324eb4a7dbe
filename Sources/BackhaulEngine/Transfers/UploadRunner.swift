internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// Performs what an `UploadMachine` decides, with the transport, the disk and the store, and tells it what came of it.
final class UploadRunner: TaskRunner {
    var machine: UploadMachine
    var responseBody: [UInt8] = []
    /// Whether the request's body had been sent when the transfer ended.
    private var bodyIsSent = true

    override init(task: StoredTask, configuration: SessionConfiguration, core: EngineCore, holdsTurn: Bool) {
        machine = UploadMachine(policy: TransferPolicy(configuration, task.request.options.policy))
        super.init(task: task, configuration: configuration, core: core, holdsTurn: holdsTurn)
    }

    override var isFinishing: Bool { machine.isFinishing }
    override var head: ResponseHead? { machine.head }
    override var receivedInAttempt: UInt64 { machine.bytesReceived }
    override var body: (sent: UInt64, size: UInt64?)? { (bodySent, feed?.size) }
    override var finishing: String? { machine.isFinishing ? "the answer is here and is being recorded" : nil }
    override var isUnanswered: Bool { head == nil && bodySent == 0 }
    override var silentWord: String { "taken and sent nothing" }

    override func take(_ event: RunnerEvent) {
        switch event {
        case .start: handle(task.isUnderWay && !mayRepeat ? .expire(lostWithItsEngine) : .start)
        case .concluded: handle(.concluded)
        case .retryRefused: handle(.retryRefused)
        case .cancel: handle(.cancel)
        case .leave: handle(.leave)
        case .expire(let failure): handle(.expire(failure))
        // While the transfer waits for us, its server is not slow.
        case .tick where transfer?.isWaiting == true: break
        case .tick: handle(.tick(bodyIsSent: transfer?.isBodySent ?? true))
        case .transferComplete: handle(.transferComplete(bodyIsSent: bodyIsSent))
        case .transferFailed(let failure, let isTransient): handle(.transferFailed(failure, isTransient: isTransient))
        }
    }

    func handle(_ event: UploadMachine.Event) {
        for action in machine.handle(event) { perform(action) }
    }

    // MARK: Actions

    private func perform(_ action: UploadMachine.Action) {
        switch action {
        case .openBody:
            feed = makeFeed(opened: { [weak self] in self?.handle(.opened) }) { [weak self] failure in
                self?.handle(.bodyFailed(failure))
            }
        case .startTransfer: mayRepeat ? startTransfer() : recordAndStart()
        case .stopTransfer: stopTransfer()
        case .releaseTurn: releaseTurn()
        case .conclude(let conclusion): conclude(conclusion)
        case .close:
            releaseTurn()
            core.finished(self)
        }
    }

    private var mayRepeat: Bool { policy.mayRepeat(task.request.method) }

    private var lostWithItsEngine: Failure {
        Failure(
            .connectionLost,
            "an engine ended while the request was under way: \(task.origin.text) may have done what was asked, and "
                + "\(task.request.method) is repeated only if retries_unsafe_methods allows it")
    }

    /// Whether the server has done what was asked cannot be known after a crash, only whether it may have.
    private func recordAndStart() {
        let (id, attempt, attempts) = (task.id, attempt, task.attempts &+ 1)
        core.store({ (transaction) throws(Failure) in
            try transaction.recordUnderWay(id, attempts: attempts)
        }, then: { core, result in
            guard let runner = core.transfers.runner(id, attempt) as? UploadRunner, runner.machine.phase == .sending
            else { return }
            switch result {
            case .success: runner.startTransfer()
            case .failure(let failure):
                runner.circumstances.surelyNotProcessed = true
                runner.handle(.transferFailed(failure, isTransient: true))
            }
        })
    }

    private func startTransfer() {
        noteRequest()
        do {
            let jar = core.cookies.jar(of: task.session)
            transfer = try core.transport.start(transferRequest(), body: limited(feed), cookies: jar, self)
            feed?.transfer = transfer
        } catch {
            handle(.transferFailed(error, isTransient: error.isPassingLack))
        }
    }

    private func conclude(_ conclusion: UploadMachine.Conclusion) {
        switch conclusion {
        case .succeeded:
            noteUplink(nil)
            var outcome = Outcome(state: .succeeded)
            if let head { outcome.answer = AnswerSummary(head, secrets) }
            outcome.answer.responseBody =
                responseBody.isEmpty
                ? nil : secrets.redacted(responseBody, isCut: responseBody.count >= Limits.responseBodySize)
            end(outcome)
        case .failed(let failure):
            noteUplink(failure)
            end(Outcome(state: .failed, failure: failure))
        case .retry(let failure, let retryAfter):
            var failed = FailedAttempt(failure)
            failed.retryAfterSeconds = retryAfter
            retry(failed, nil)
        case .credential(let demand): park(demand, nil)
        case .left:
            var record = AttemptRecord(
                attempts: task.attempts &+ requests, attemptsWithoutProgress: task.attemptsWithoutProgress,
                bytesReceived: bytesReceived, attempt: attempt(.stopped))
            // A host that suspends it has it sent again; one that closes its engine has not asked for that.
            let wasSent = requests > 0 && (bodySent > 0 || feed?.size == 0)
            record.isUnderWay = core.isLeaving && wasSent && !mayRepeat
            self.record(record)
        }
    }
}

extension UploadRunner: TransferDelegate {
    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan {
        lastByte = core.loop.now
        noteCredentials(head, transfer)
        if head.isHTTP2 { core.scheduler.becameMultiplexed(task.lane) }
        secrets = transfer.secrets
        handle(.head(secrets.redacted(head, requested: task.request.url), demand))
        return .receive
    }

    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow {
        guard mayMove() else { return .pause }
        moved(bytes.byteCount)
        core.apply(core.budgets.moved(bytes.byteCount, by: task))
        lastByte = core.loop.now
        rate.add(bytes.byteCount)
        switch machine.phase {
        case .receiving: collect(bytes, into: &responseBody, atMost: Limits.responseBodySize)
        case .receivingErrorBody: collect(bytes, into: &errorBody, atMost: Limits.errorBodySize)
        default: break
        }
        handle(.received(count: bytes.byteCount, bodyIsSent: transfer.isBodySent))
        return .go
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) {
        bodyIsSent = transfer.isBodySent
        take(ended(transfer, end))
    }
}
