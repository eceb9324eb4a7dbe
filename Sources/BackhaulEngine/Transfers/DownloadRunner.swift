internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// Performs what a `DownloadMachine` decides, with the transport, the disk and the store, and tells it what came of it.
final class DownloadRunner: TaskRunner {
    let part: PartFile
    let location: PartLocation
    var machine: DownloadMachine
    var buffer: [UInt8] = []
    /// When its first byte came, by the loop's clock.
    var bufferedSince: Int64 = 0
    /// What lies at the destination as an earlier task has left it.
    var known: StoredVersion?
    /// What this one has put there.
    var placed: FileStamp?

    override init(task: StoredTask, configuration: SessionConfiguration, core: EngineCore, holdsTurn: Bool) {
        location = core.location(of: task)
        part = core.services.disk.partFile(location)
        var terms = DownloadTerms(task.request, configuration)
        // Only before the first request: whoever has asked already knows that he needs it.
        terms.skipsExisting = terms.skipsExisting && task.attempts == 0
        terms.hadMismatch = task.hadMismatch
        terms.neededSpace = core.transfers.neededSpace(of: task.id)
        machine = DownloadMachine(
            checkpoint: task.checkpoint, intent: task.intent, bootID: ProcessIdentity.currentBootID, terms: terms,
            furthest: task.furthestOffset, policy: TransferPolicy(configuration, task.request.options.policy))
        super.init(task: task, configuration: configuration, core: core, holdsTurn: holdsTurn)
    }

    override var isFinishing: Bool { machine.isFinishing }
    override var hasAllBytes: Bool { machine.phase == .receiving && machine.size == machine.offset }
    override var head: ResponseHead? { machine.head }
    override var receivedInAttempt: UInt64 { machine.bytesReceived }
    override var furthest: UInt64 { machine.furthest }
    override var madeProgress: Bool { machine.madeProgress }
    override var bytesAtStake: UInt64 { machine.checkpoint == nil ? machine.offset : 0 }

    override var file: (offset: UInt64, size: UInt64?)? { (machine.offset, machine.size) }
    override var takesBytes: Bool { machine.wantsBytes }
    override var finishing: String? {
        if machine.isFinishing { return "all bytes are here and are being made durable" }
        return machine.phase == .lookingForFile ? "the file that is there is being verified" : nil
    }

    override func take(_ event: RunnerEvent) {
        switch event {
        case .start: handle(.start)
        case .concluded: handle(.concluded)
        case .retryRefused: handle(.retryRefused)
        case .cancel: handle(.cancel)
        case .leave: handle(.leave)
        case .expire(let failure): handle(.expire(failure))
        case .tick: handle(.tick)
        case .transferComplete: handle(.transferComplete)
        case .transferFailed(let failure, let isTransient): handle(.transferFailed(failure, isTransient: isTransient))
        }
    }

    func handle(_ event: DownloadMachine.Event) {
        for action in machine.handle(event) { perform(action) }
    }

    // MARK: Actions

    private func perform(_ action: DownloadMachine.Action) {
        switch action {
        case .lookForSealed(let intent):
            part.look(for: intent, then: disk { .lookedForSealed(isThere: $0 != .gone) })
        case .openPart(let isSameBoot, let syncedOffset):
            let trusted: TrustedLength = isSameBoot ? .allWritten(atLeastSynced: syncedOffset) : .synced(syncedOffset)
            let stamps = machine.checkpoint?.stamps(isSameBoot: isSameBoot) ?? []
            part.openResuming(trusting: trusted, as: stamps, then: disk { .opened(length: $0) })
        case .checkSpace(let missing, let size):
            part.checkSpace(for: missing, ofFileOf: size, then: disk { _ in .spaceChecked })
        case .lookForFile(let size, let algorithm):
            core.services.disk.find(location.destination, size: size, algorithm, then: disk { .lookedForFile($0) })
        case .lookForVersion: lookForVersion()
        case .lookAgain: lookAtKnown { .lookedAgain(isSame: $0) }
        case .checkName(let name): part.checkName(name, then: disk { _ in nil })
        case .hash(let algorithm): part.hash(algorithm)
        case .startTransfer(let offset, let ifRange, let condition): startTransfer(offset, ifRange, condition)
        case .stopTransfer: stopTransfer()
        case .resumeTransfer: transfer?.resume()
        case .releaseTurn: releaseTurn()
        case .forgetCheckpoint:
            let id = task.id
            store({ (transaction) throws(Failure) in
                try transaction.forgetProgress(id)
            }, then: { $0.handle(.forgotten) })
        case .restartPart:
            part.openResuming(trusting: .nothing, then: disk { _ in nil })
        case .flush:
            let bytes = takeBuffer()
            part.append(bytes, then: disk(writing: bytes.count) { .appended(length: $0.length, $0.stamp) })
        case .sync: part.sync(then: disk { .synced(length: $0.length, checksum: $0.stamp?.checksum) })
        case .recordCheckpoint(let checkpoint):
            let id = task.id
            CrashPoint.beforeCheckpoint.reach()
            let soFar = ReceivedSoFar(
                attempts: task.attempts &+ requests, bytesReceived: bytesReceived, furthestOffset: machine.furthest,
                madeProgress: machine.madeProgress, attempt: attempt(.stopped))
            let number = attempt
            core.store({ (transaction) throws(Failure) in
                try transaction.recordCheckpoint(id, checkpoint, soFar)
            }, then: { core, _ in
                CrashPoint.afterCheckpoint.reach()
                (core.transfers.runner(id, number) as? DownloadRunner)?.handle(.checkpointRecorded)
            })
        case .seal(let size):
            let bytes = takeBuffer()
            part.seal(bytes, expected: size, then: disk(writing: bytes.count) { .sealed($0.intent, $0.checksum) })
        case .recordIntent(let intent):
            CrashPoint.afterSeal.reach()
            recordIntent(intent)
        case .place(let intent):
            CrashPoint.afterIntent.reach()
            place(intent)
        case .discardPart: part.discard(then: disk { _ in .discarded })
        case .conclude(let conclusion, let checkpoint): conclude(conclusion, checkpoint)
        case .closePart:
            part.close()
            releaseTurn()
            core.finished(self)
        }
    }

    /// An answer of the disk as an event, on the loop, if this runner is still the task's. `writing`: how many bytes
    /// are in memory until it comes.
    func disk<Value: Sendable>(
        writing count: Int = 0, _ event: @escaping @Sendable (Value) -> DownloadMachine.Event?
    ) -> @Sendable (Result<Value, Failure>) -> Void {
        let (outbox, id, attempt) = (core.services.outbox, task.id, attempt)
        core.transfers.willWrite(count)
        return { result in
            outbox.post { core in
                if core.transfers.wrote(count) { core.scheduler.plan() }
                guard let runner = core.transfers.runner(id, attempt) as? DownloadRunner else { return }
                switch result {
                case .success(let value): if let event = event(value) { runner.handle(event) }
                case .failure(let failure): runner.handle(.diskFailed(failure))
                }
            }
        }
    }

    private func store<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value,
        then: @escaping @Sendable (DownloadRunner) -> Void
    ) {
        let (id, attempt) = (task.id, attempt)
        core.store(body, then: { core, result in
            guard let runner = core.transfers.runner(id, attempt) as? DownloadRunner else { return }
            switch result {
            case .success: then(runner)
            case .failure(let failure): runner.handle(.diskFailed(failure))
            }
        })
    }

    private func takeBuffer() -> [UInt8] {
        defer { buffer = [] }
        return buffer
    }

    private func startTransfer(_ offset: UInt64, _ ifRange: String?, _ condition: FileVersion?) {
        noteRequest(from: offset)
        feed = makeFeed { [weak self] failure in
            self?.stopTransfer()
            self?.handle(.transferFailed(failure, isTransient: failure.isPassingLack))
        }
        do {
            var request = transferRequest(offset: offset, ifRange: ifRange)
            request.condition = condition
            let jar = core.cookies.jar(of: task.session)
            transfer = try core.transport.start(request, body: limited(feed), cookies: jar, self)
            feed?.transfer = transfer
        } catch {
            handle(.transferFailed(error, isTransient: error.isPassingLack))
        }
    }

    private func recordIntent(_ intent: FinishIntent) {
        let (id, attempts, bytes) = (task.id, task.attempts &+ requests, bytesReceived)
        let answer = machine.head.map { AnswerSummary($0, secrets) } ?? AnswerSummary()
        let checksum = machine.checksum
        let number = attempt
        let attempt = attempt(.end)
        recordedAttempt = attempt
        core.store({ (transaction) throws(Failure) in
            try transaction.recordIntent(
                id, intent, answer: answer, checksum: checksum, attempts: attempts, bytesReceived: bytes,
                attempt: attempt)
        }, then: { core, result in
            guard let runner = core.transfers.runner(id, number) as? DownloadRunner else { return }
            switch result {
            case .success(true): runner.handle(.intentRecorded)
            case .success(false): runner.handle(.intentRefused)
            case .failure(let failure): runner.again(after: failure) { [unowned runner] in runner.recordIntent(intent) }
            }
        })
    }
}
