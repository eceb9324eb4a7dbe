internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// Performs what a `DownloadMachine` decides, with the transport, the disk and the store, and tells it what came of it.
final class DownloadRunner {
    let task: StoredTask
    /// Tells this runner from an earlier one of the same task, whose answers may still be on their way.
    private let attempt: UInt64
    private let configuration: SessionConfiguration
    private unowned let core: EngineCore
    private let part: PartFile
    private let location: PartLocation
    private var machine: DownloadMachine
    private var transfer: Transfer?
    private var buffer: [UInt8] = []
    private var errorBody: [UInt8] = []
    private var holdsTurn: Bool
    private var requests: UInt32 = 0
    private var rate = RateMeter()
    private var lastByte: Int64
    private var concludingTimer: LoopTimer?

    init(task: StoredTask, configuration: SessionConfiguration, core: EngineCore, holdsTurn: Bool) {
        self.task = task
        attempt = core.nextAttempt()
        self.configuration = configuration
        self.core = core
        self.holdsTurn = holdsTurn
        location = core.location(of: task)
        part = core.services.disk.partFile(location)
        machine = DownloadMachine(
            checkpoint: task.checkpoint, intent: task.intent, bootID: ProcessIdentity.currentBootID)
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

    private var age: Int64 { Clock.wallMilliseconds - task.enqueuedMilliseconds }

    private static let timeOver = Failure(
        .resourceTimeout, "the task did not end within the session's resource time-out")

    private(set) var wasCancelled = false

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
            store({ (transaction) throws(Failure) in try transaction.forgetProgress(id) }, then: { $0.handle(.forgotten) })
        case .restartPart:
            part.openResuming(trusting: .nothing, then: disk { _ in nil })
        case .flush:
            let bytes = takeBuffer()
            part.append(bytes, then: disk(writing: bytes.count) { .appended(length: $0) })
        case .sync: part.sync(then: disk { .synced(length: $0) })
        case .recordCheckpoint(let checkpoint):
            let id = task.id
            CrashPoint.beforeCheckpoint.reach()
            // Not recorded means only that a crash would cost more; the next one will be.
            core.store({ (transaction) throws(Failure) in
                try transaction.recordCheckpoint(id, checkpoint)
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

    /// An answer of the disk as an event, on the loop, if this runner is still the task's. `writing`: how many bytes are
    /// in memory until it comes.
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
            origin: task.origin)
        do {
            transfer = try core.transport.start(request, self)
        } catch {
            handle(.transferFailed(error, isTransient: false))
        }
    }

    private func recordIntent(_ intent: FinishIntent) {
        let id = task.id
        core.store({ (transaction) throws(Failure) in try transaction.recordIntent(id, intent) }, then: { core, result in
            guard let runner = core.runners[id] else { return }
            switch result {
            case .success(true): runner.handle(.intentRecorded)
            case .success(false): runner.handle(.intentRefused)
            case .failure: runner.again { $0.recordIntent(intent) }
            }
        })
    }

    /// The store cannot commit for now (it is full, say): nothing is lost by waiting a second.
    private func again(_ body: @escaping (DownloadRunner) -> Void) {
        let timer = core.loop.timer { [unowned self] in body(self) }
        concludingTimer = timer
        timer.start(milliseconds: 1_000)
    }

    // MARK: The end of an attempt

    private func conclude(_ conclusion: DownloadMachine.Conclusion, _ checkpoint: Checkpoint?) {
        switch conclusion {
        case .succeeded:
            CrashPoint.afterPlace.reach()
            var outcome = Outcome(state: .succeeded, path: task.request.destination?.path ?? location.destination.path)
            outcome.size = machine.size ?? machine.offset
            end(outcome)
        case .failed(let failure): end(Outcome(state: .failed, failure: failure))
        case .retry(let failure, let reason, let retryAfter, _):
            retry(failure, reason, retryAfter, checkpoint)
        case .left:
            record(
                AttemptRecord(
                    attempts: task.attempts &+ requests, attemptsWithoutProgress: task.attemptsWithoutProgress,
                    bytesReceived: bytesReceived, checkpoint: checkpoint))
        }
    }

    private func end(_ outcome: Outcome) {
        var outcome = outcome
        if let head = machine.head { outcome.answer = AnswerSummary(head) }
        if outcome.state == .failed, !errorBody.isEmpty { outcome.answer.errorBody = errorBody }
        outcome.attempts = task.attempts &+ requests
        outcome.bytesReceived = bytesReceived
        let (id, final) = (task.id, outcome)
        core.store({ (transaction) throws(Failure) in
            try transaction.end(id, final, now: Clock.wallMilliseconds)
        }, then: { core, result in
            switch result {
            case .success(let change):
                CrashPoint.afterEnd.reach()
                core.runners[id]?.handle(.concluded)
                if let change { core.announce(change) }
            case .failure: core.runners[id]?.again { $0.end(final) }
            }
        })
    }

    private func retry(_ failure: Failure, _ reason: WaitReason, _ retryAfter: Int64?, _ checkpoint: Checkpoint?) {
        let fruitless = machine.madeProgress ? 0 : task.attemptsWithoutProgress &+ 1
        let delay = RetryPolicy(configuration).delay(
            attemptsWithoutProgress: fruitless, retryAfterSeconds: retryAfter, jitter: .random(in: 0..<1))
        // A full disk is a reason to wait, however long.
        guard let delay = reason == .diskFull ? max(delay ?? 0, 5_000) : delay else {
            handle(.retryRefused)
            return
        }
        // Looked at again when its time is over, at the latest: then it fails.
        let wait = min(delay, max(0, Int64(clamping: configuration.resourceTimeoutMilliseconds) - age))
        record(
            AttemptRecord(
                attempts: task.attempts &+ requests,
                attemptsWithoutProgress: reason == .diskFull ? task.attemptsWithoutProgress : fruitless,
                bytesReceived: bytesReceived, failure: failure, httpStatus: machine.head?.status ?? 0,
                nextAttempt: Clock.bootMilliseconds + wait, reason: reason, checkpoint: checkpoint))
    }

    private var bytesReceived: UInt64 { task.bytesReceived &+ machine.bytesReceived }

    private func record(_ attempt: AttemptRecord) {
        let (id, lane) = (task.id, task.lane)
        core.store({ (transaction) throws(Failure) in try transaction.recordAttempt(id, attempt) }, then: { core, result in
            guard let runner = core.runners[id] else { return }
            switch result {
            case .success:
                runner.handle(.concluded)
                core.due(at: attempt.nextAttempt)
                // Without a delay it waits for its turn again, unless it is suspended or has ended.
                if attempt.nextAttempt == nil { core.tasksWait(in: [lane], reload: false) }
            case .failure: runner.again { $0.record(attempt) }
            }
        })
    }

    // MARK: What others see

    /// Lays live progress over what the row says.
    func overlay(_ info: TaskInfo) -> TaskInfo {
        guard !info.state.hasEnded, info.state != .suspended else { return info }
        var info = info
        info.state = .running
        info.offset = machine.offset
        info.size = machine.size ?? info.size
        info.httpStatus = machine.head?.status ?? info.httpStatus
        info.attempts = task.attempts &+ requests
        info.bytesPerSecond = rate.bytesPerSecond
        info.nextAttemptMilliseconds = 0
        (info.reason, info.reasonText) = reason
        return info
    }

    private var reason: (WaitReason, String?) {
        if machine.isFinishing { return (.finishing, "all bytes are here and are being made durable") }
        if machine.head == nil { return (.connecting, "\(task.origin.text) has not answered yet") }
        let silence = (core.loop.now - lastByte) / 1_000
        if silence >= 2 { return (.stalled, "\(task.origin.text) has sent nothing for \(silence) seconds") }
        return (.none, nil)
    }
}

extension DownloadRunner: TransferDelegate {
    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan {
        lastByte = core.loop.now
        if head.isHTTP2 { core.becameMultiplexed(task.lane) }
        handle(.head(head))
        return .receive
    }

    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow {
        if machine.phase == .receivingErrorBody {
            collectErrorBody(bytes)
            return .go
        }
        guard machine.wantsBytes else { return .pause }
        lastByte = core.loop.now
        rate.add(bytes.byteCount)
        if buffer.isEmpty {
            let rest = machine.size.map { $0 - min($0, machine.offset) } ?? UInt64(bytes.byteCount)
            buffer.reserveCapacity(Int(clamping: min(rest, 320 << 10)))
        }
        bytes.withUnsafeBytes { buffer.append(contentsOf: $0) }
        handle(.received(count: bytes.byteCount))
        return .go
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) {
        self.transfer = nil
        switch end {
        case .complete, .refused: handle(.transferComplete)
        case .failed(let failure, let isTransient): handle(.transferFailed(failure, isTransient: isTransient))
        }
    }

    private func collectErrorBody(_ bytes: RawSpan) {
        let room = Limits.errorBodySize - errorBody.count
        bytes.withUnsafeBytes { errorBody.append(contentsOf: $0.prefix(room)) }
        handle(.received(count: bytes.byteCount))
    }
}
