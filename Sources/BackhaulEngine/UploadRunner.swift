internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// Performs what an `UploadMachine` decides, with the transport, the disk and the store, and tells it what came of it.
final class UploadRunner: TaskRunner {
    var machine: UploadMachine
    var responseBody: [UInt8] = []

    override init(task: StoredTask, configuration: SessionConfiguration, core: EngineCore, holdsTurn: Bool) {
        machine = UploadMachine(policy: TransferPolicy(configuration, task.request.options.policy))
        super.init(task: task, configuration: configuration, core: core, holdsTurn: holdsTurn)
    }

    override var isFinishing: Bool { machine.isFinishing }
    override var head: ResponseHead? { machine.head }
    override var receivedInAttempt: UInt64 { machine.bytesReceived }
    override func overlay(_ info: TaskInfo) -> TaskInfo { live(info) }
    override var reading: Progress { liveReading }
    override var lastReading: Progress { readingAfterwards }

    override func take(_ event: RunnerEvent) {
        switch event {
        case .start: handle(.start)
        case .concluded: handle(.concluded)
        case .retryRefused: handle(.retryRefused)
        case .cancel: handle(.cancel)
        case .leave: handle(.leave)
        case .expire(let failure): handle(.expire(failure))
        case .tick: break
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
        case .startTransfer: startTransfer()
        case .stopTransfer: stopTransfer()
        case .releaseTurn: releaseTurn()
        case .conclude(let conclusion): conclude(conclusion)
        case .close:
            releaseTurn()
            core.finished(self)
        }
    }

    private func startTransfer() {
        noteRequest()
        do {
            transfer = try core.transport.start(transferRequest(), body: limited(feed), cookies: cookieJar, self)
            feed?.transfer = transfer
        } catch {
            handle(.transferFailed(error, isTransient: false))
        }
    }

    private func conclude(_ conclusion: UploadMachine.Conclusion) {
        switch conclusion {
        case .succeeded:
            var outcome = Outcome(state: .succeeded)
            if let head { outcome.answer = AnswerSummary(head) }
            outcome.answer.responseBody =
                responseBody.isEmpty
                ? nil : secrets.redacted(responseBody, isCut: responseBody.count >= Limits.responseBodySize)
            end(outcome)
        case .failed(let failure): end(Outcome(state: .failed, failure: failure))
        case .retry(let failure, let retryAfter):
            var failed = FailedAttempt(failure)
            failed.retryAfterSeconds = retryAfter
            retry(failed, nil)
        case .credential(let demand): park(demand, nil)
        case .left:
            record(
                AttemptRecord(
                    attempts: task.attempts &+ requests, attemptsWithoutProgress: task.attemptsWithoutProgress,
                    bytesReceived: bytesReceived, attempt: attempt(.stopped)))
        }
    }
}

extension UploadRunner: TransferDelegate {
    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan {
        lastByte = core.loop.now
        noteCredentials(head, transfer)
        if head.isHTTP2 { core.becameMultiplexed(task.lane) }
        secrets = transfer.secrets
        handle(.head(secrets.redacted(head, requested: task.request.url), demand))
        return .receive
    }

    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow {
        guard mayMove() else { return .pause }
        moved(bytes.byteCount)
        lastByte = core.loop.now
        rate.add(bytes.byteCount)
        switch machine.phase {
        case .receiving: collect(bytes, into: &responseBody, atMost: Limits.responseBodySize)
        case .receivingErrorBody: collect(bytes, into: &errorBody, atMost: Limits.errorBodySize)
        default: break
        }
        handle(.received(count: bytes.byteCount))
        return .go
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) {
        noteEnd(of: transfer)
        switch end {
        case .complete, .refused: handle(.transferComplete)
        case .failed(let failure, let isTransient, let circumstances):
            self.circumstances = circumstances
            handle(.transferFailed(failure, isTransient: isTransient))
        }
    }

    private func collect(_ bytes: RawSpan, into body: inout [UInt8], atMost limit: Int) {
        let room = max(0, limit - body.count)
        bytes.withUnsafeBytes { body.append(contentsOf: $0.prefix(room)) }
    }
}
