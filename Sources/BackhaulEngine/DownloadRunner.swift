internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// Performs what a `DownloadMachine` decides, with the transport, the disk and the store, and tells it what came of it.
final class DownloadRunner {
    var task: StoredTask
    /// Tells this runner from an earlier one of the same task, whose answers may still be on their way.
    let attempt: UInt64
    let configuration: SessionConfiguration
    unowned let core: EngineCore
    let part: PartFile
    let location: PartLocation
    var machine: DownloadMachine
    var transfer: Transfer?
    var buffer: [UInt8] = []
    var errorBody: [UInt8] = []
    var holdsTurn: Bool
    var requests: UInt32 = 0
    var rate = RateMeter()
    var lastByte: Int64
    var concludingTimer: LoopTimer?
    /// Its lane tries one task at a time, and how this one is taken is not known yet.
    var isProbe = false
    /// A server or proxy has asked for a credential, and what comes of that is not durable yet.
    var demand: AuthenticationDemand?
    /// The answer that was sent to whoever asks.
    var sentAnswer: UInt64?
    /// Not to be kept, although a server may repeat it.
    var secrets = SentSecrets()

    init(task: StoredTask, configuration: SessionConfiguration, core: EngineCore, holdsTurn: Bool) {
        self.task = task
        attempt = core.nextAttempt()
        self.configuration = configuration
        self.core = core
        self.holdsTurn = holdsTurn
        location = core.location(of: task)
        part = core.services.disk.partFile(location)
        machine = DownloadMachine(
            checkpoint: task.checkpoint, intent: task.intent, bootID: ProcessIdentity.currentBootID,
            asksForCredentials: configuration.asksForCredentials, furthest: task.furthestOffset)
        lastByte = core.loop.now
    }

    var isFinishing: Bool { machine.isFinishing }

    func start() {
        handle(timeIsOver ? .expire(Self.timeOver) : .start)
    }

    func tick() {
        rate.tick()
        handle(timeIsOver ? .expire(Self.timeOver) : .tick)
    }

    private var timeIsOver: Bool {
        age >= Int64(clamping: configuration.resourceTimeoutMilliseconds)
    }

    var age: Int64 { core.calendarMilliseconds - task.enqueuedMilliseconds }

    private static let timeOver = Failure(
        .resourceTimeout, "the task did not end within the session's resource time-out")

    private(set) var wasCancelled = false
    /// What it is when it runs no more.
    var left: (TaskState, WaitReason) = (.suspended, .suspended)

    func handle(_ event: DownloadMachine.Event) {
        if event == .cancel { wasCancelled = true }
        for action in machine.handle(event) { perform(action) }
    }

    // MARK: Actions

    private func perform(_ action: DownloadMachine.Action) {
        switch action {
        case .lookForSealed(let intent):
            part.look(for: intent, then: disk { .lookedForSealed(isThere: $0 != .gone) })
        case .openPart(let isSameBoot, let syncedOffset):
            let trusted: TrustedLength = isSameBoot ? .allWritten(atLeastSynced: syncedOffset) : .synced(syncedOffset)
            part.openResuming(trusting: trusted, then: disk { .opened(length: $0) })
        case .startTransfer(let offset, let ifRange): startTransfer(offset, ifRange)
        case .stopTransfer:
            transfer?.cancel()
            transfer = nil
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
            part.append(bytes, then: disk(writing: bytes.count) { .appended(length: $0) })
        case .sync: part.sync(then: disk { .synced(length: $0) })
        case .recordCheckpoint(let checkpoint):
            let id = task.id
            CrashPoint.beforeCheckpoint.reach()
            let soFar = ReceivedSoFar(
                attempts: task.attempts &+ requests, bytesReceived: bytesReceived, furthestOffset: machine.furthest,
                madeProgress: machine.madeProgress)
            // Not recorded means only that a crash would cost more; the next one will be.
            core.store({ (transaction) throws(Failure) in
                try transaction.recordCheckpoint(id, checkpoint, soFar)
            }, then: { _, _ in CrashPoint.afterCheckpoint.reach() })
        case .seal(let size):
            let bytes = takeBuffer()
            part.seal(bytes, expected: size, then: disk(writing: bytes.count) { .sealed($0) })
        case .recordIntent(let intent):
            CrashPoint.afterSeal.reach()
            recordIntent(intent)
        case .place(let intent):
            CrashPoint.afterIntent.reach()
            part.place(intent, then: disk { _ in .placed })
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
    private func disk<Value: Sendable>(
        writing count: Int = 0, _ event: @escaping @Sendable (Value) -> DownloadMachine.Event?
    ) -> @Sendable (Result<Value, Failure>) -> Void {
        let (outbox, id, attempt) = (core.services.outbox, task.id, attempt)
        core.bytesToWrite += count
        return { result in
            outbox.post { core in
                core.bytesToWrite -= count
                guard let runner = core.runners[id], runner.attempt == attempt else { return }
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
        let id = task.id
        core.store(body, then: { core, result in
            guard let runner = core.runners[id] else { return }
            switch result {
            case .success: then(runner)
            case .failure(let failure): runner.handle(.diskFailed(failure))
            }
        })
    }

    private func releaseTurn() {
        guard holdsTurn else { return }
        holdsTurn = false
        core.schedule.released(task.lane)
        core.planPump()
    }

    private func takeBuffer() -> [UInt8] {
        defer { buffer = [] }
        return buffer
    }

    private func startTransfer(_ offset: UInt64, _ ifRange: String?) {
        requests += 1
        lastByte = core.loop.now
        let request = TransferRequest(
            url: task.request.url, headers: task.request.headers, offset: offset, ifRange: ifRange,
            requestTimeoutMilliseconds: configuration.requestTimeoutMilliseconds, caFile: configuration.caFile,
            origin: task.origin, credentials: core.credentials[task.session])
        do {
            transfer = try core.transport.start(request, self)
        } catch {
            handle(.transferFailed(error, isTransient: false))
        }
    }

    private func recordIntent(_ intent: FinishIntent) {
        let (id, attempts, bytes) = (task.id, task.attempts &+ requests, bytesReceived)
        let answer = machine.head.map { AnswerSummary($0) } ?? AnswerSummary()
        core.store({ (transaction) throws(Failure) in
            try transaction.recordIntent(id, intent, answer: answer, attempts: attempts, bytesReceived: bytes)
        }, then: { core, result in
            guard let runner = core.runners[id] else { return }
            switch result {
            case .success(true): runner.handle(.intentRecorded)
            case .success(false): runner.handle(.intentRefused)
            case .failure: runner.again { $0.recordIntent(intent) }
            }
        })
    }

    /// The store cannot commit for now (it is full, say): nothing is lost by waiting a second.
    func again(_ body: @escaping (DownloadRunner) -> Void) {
        let timer = core.loop.timer { [unowned self] in body(self) }
        concludingTimer = timer
        timer.start(milliseconds: 1_000)
    }
}
