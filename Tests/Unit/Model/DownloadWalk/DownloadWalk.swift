import BackhaulModel

/// Simulates one download from its start to its end, with crashes, power losses and faults. The download's state
/// machine returns actions. As in the library, these actions become operations of the disk, of the database (the
/// *store*) and of the connection to the server. The simulation performs the operations one at a time, in random order.
/// Bytes are written to a *part file*. At the end, this file gets its final name.
struct DownloadWalk {
    /// The task's row in the simulated store.
    struct Row {
        var checkpoint: Checkpoint?
        var intent: FinishIntent?
        var isSuspended = false
        var end: DownloadMachine.Conclusion?
        var wasCancelled = false
        var events = 0
        var hasEnded: Bool { end != nil }
    }

    enum StoreOperation {
        case forget, recordCheckpoint(Checkpoint), recordIntent(FinishIntent)
        case conclude(DownloadMachine.Conclusion, Checkpoint?)
        case cancel, suspend
    }

    private(set) var problems: [String] = []
    /// The log of all events and actions. It is written only if a failed simulation is repeated with the same seed.
    private(set) var trace: [String] = []
    private(set) var row = Row()
    private(set) var disk = SimulatedDisk()
    private(set) var attempts = 0
    private(set) var crashes = 0
    private(set) var server: SimulatedServer
    private var random: Random
    private var boot = 1
    /// The part of the server's file that the task downloads; nil: all of it.
    let range: ByteRange?
    /// The number of attempts with faults. Later attempts have no faults, so the task must end.
    private let faultyAttempts: Int
    /// Whether a part file may be left at the end, because the task could not remove it.
    private var mayHavePart = false
    /// Whether the last attempt found that the server's file does not have the range.
    private var hadMismatch = false

    // State that is lost with the process.
    private var machine = DownloadMachine(checkpoint: nil, intent: nil, bootID: "")
    private var buffer: [UInt8] = []
    private var diskQueue: [SimulatedDisk.Operation] = []
    private var storeQueue: [StoreOperation] = []
    /// Results that the state machine has not handled yet.
    private var results: [DownloadMachine.Event] = []
    private var deliveries: [SimulatedServer.Delivery]?
    private var isPaused = false
    /// Whether the transfer of this attempt is slow.
    private var isSlow = false
    private var slotsReleased = 0
    private var transfers = 0
    private var conclusions = 0

    private var injectsFaults: Bool { attempts <= faultyAttempts }

    private let isTraced: Bool

    init(seed: UInt64, isTraced: Bool = false) {
        self.isTraced = isTraced
        random = Random(seed: seed)
        faultyAttempts = random.number(1...30)
        let size = random.once(in: 2) ? UInt64(random.number(1...200)) : nil
        range = random.once(in: 3) ? ByteRange(start: UInt64(random.number(0...150)), size: size) : nil
        server = SimulatedServer(random: &random)
    }

    /// Runs the task to its end.
    mutating func run() {
        while !row.hasEnded || !machine.isOver {
            guard attempts < faultyAttempts + 10, problems.isEmpty else {
                problems.append("the task does not end")
                return
            }
            if row.hasEnded { break }
            row.isSuspended = false
            runAttempt()
        }
        check()
    }

    private mutating func runAttempt() {
        attempts += 1
        if random.once(in: 3), injectsFaults { server.change(&random) }
        isSlow = random.once(in: 2)
        var terms = DownloadTerms.asking
        terms.mayRequest = row.intent == nil || random.once(in: 2)
        terms.range = range
        terms.hadMismatch = hadMismatch
        machine = DownloadMachine(
            checkpoint: row.checkpoint, intent: row.intent, bootID: "boot \(boot)", terms: terms, limits: .tiny)
        (slotsReleased, transfers, conclusions) = (0, 0, 0)
        forgetProcess()
        handle(injectsFaults && random.once(in: 300) ? .expire(.timedOut) : .start)
        for _ in 0..<20_000 {
            if machine.isOver {
                endAttempt()
                return
            }
            if injectsFaults, !isBeforeCut, random.once(in: isAfterFailure ? 3 : 150) {
                crash()
                return
            }
            guard step() else {
                problems.append("nothing is under way in phase \(machine.phase)")
                return
            }
        }
        problems.append("the attempt does not end")
    }

    /// Whether a failed sync has lost bytes, and the part file is not truncated yet to the bytes of earlier syncs. A
    /// crash at this time would leave a wrong file, so the simulation does not crash then.
    private var isBeforeCut: Bool {
        disk.hasLostBytes
            && (!diskQueue.isEmpty || results.contains { if case .diskFailed = $0 { true } else { false } })
    }

    /// Whether the attempt has ended because of a disk failure, and the store has not committed this end yet.
    private var isAfterFailure: Bool {
        storeQueue.contains {
            if case .conclude(.retry(let failure, _, _, _), _) = $0 { failure == .broken } else { false }
        }
    }

    private mutating func forgetProcess() {
        (buffer, diskQueue, storeQueue, results, deliveries, isPaused) = ([], [], [], [], nil, false)
    }

    private mutating func crash() {
        crashes += 1
        if isTraced { trace.append("crash") }
        if row.hasEnded { mayHavePart = true }
        if random.once(in: 3) {
            boot += 1
            disk.losePower(&random)
            mayHavePart = true
        } else {
            disk.close()
        }
        forgetProcess()
    }

    // MARK: Steps

    /// Performs one pending operation, chosen at random. Returns false if no operation is pending.
    private mutating func step() -> Bool {
        if injectsFaults { injectFault() }
        if isSlow, random.once(in: 4) { handle(.aged) }
        if machine.isOver { return true }
        var choices: [Int] = []
        if !diskQueue.isEmpty { choices.append(0) }
        if !storeQueue.isEmpty { choices.append(1) }
        if !results.isEmpty { choices.append(2) }
        if let next = deliveries?.first, !isPaused || next == .complete || isFailure(next) { choices.append(3) }
        switch random.pick(choices) {
        case 0: performDisk()
        case 1: performStore()
        case 2: handle(results.removeFirst())
        case 3: deliver()
        default: return false
        }
        return true
    }

    private mutating func injectFault() {
        if random.once(in: 12) { handle(.tick) }
        if random.once(in: machine.isFinishing ? 60 : 400) { storeQueue.append(.cancel) }
        if random.once(in: 150) { storeQueue.append(.suspend) }
        if random.once(in: 150) { handle(.stop) }
        if random.once(in: 1_500) { handle(.expire(.timedOut)) }
        // The state machine does not expect these events, so it must ignore them.
        if random.once(in: 100), machine.phase != .requesting { handle(.head(head(200))) }
        if random.once(in: 100) { handle(.start) }
    }

    private func isFailure(_ delivery: SimulatedServer.Delivery) -> Bool {
        if case .failed = delivery { true } else { false }
    }

    private mutating func deliver() {
        guard let delivery = deliveries?.first else { return }
        switch delivery {
        case .head(let head):
            deliveries?.removeFirst()
            handle(.head(head))
        case .body(let bytes):
            guard machine.wantsBytes else {
                isPaused = true
                return
            }
            deliveries?.removeFirst()
            let kept = machine.bytesOfFile(among: bytes.count)
            guard !kept.isEmpty else { return }
            if machine.phase == .receiving { buffer += bytes[kept] }
            handle(.received(count: kept.count))
        case .complete:
            deliveries = nil
            handle(.transferComplete)
        case .failed(let isTransient):
            deliveries = nil
            handle(.transferFailed(isTransient ? .lost : .refused, isTransient: isTransient))
        }
    }

    private mutating func performDisk() {
        let operation = diskQueue.removeFirst()
        var failure: Failure?
        var odds = 60
        if case .sync = operation { odds = 15 }
        if injectsFaults, random.once(in: odds) {
            failure = random.pick([.broken, .broken, .full, Failure(.outOfResources, "no descriptors")])
            if random.once(in: 40) { failure = .gone }
            if case .discard = operation { mayHavePart = true }
        }
        if let result = disk.perform(operation, failing: failure, &random) { results.append(result) }
        checkFinal()
    }

    private mutating func performStore() {
        switch storeQueue.removeFirst() {
        case .forget:
            if !row.hasEnded { (row.checkpoint, row.intent) = (nil, nil) }
            results.append(.forgotten)
        case .recordCheckpoint(let checkpoint):
            if !row.hasEnded { row.checkpoint = checkpoint }
            results.append(.checkpointRecorded)
        case .recordIntent(let intent):
            if !row.hasEnded { row.intent = intent }
            results.append(row.hasEnded ? .intentRefused : .intentRecorded)
        case .conclude(.retry, _) where injectsFaults && random.once(in: 100),
            .conclude(.credential, _) where injectsFaults && random.once(in: 100):
            conclusions -= 1
            results.append(.retryRefused)
        case .conclude(let conclusion, let checkpoint):
            conclude(conclusion, checkpoint)
            results.append(.concluded)
        case .cancel:
            // If a task has a finish intent, which records its complete file, the task is already ending. So the store
            // does not cancel it.
            guard !row.hasEnded, row.intent == nil else { return }
            row.wasCancelled = true
            end(.stopped)
            results.append(.cancel)
        case .suspend:
            guard !row.hasEnded, row.intent == nil, !row.isSuspended else { return }
            row.isSuspended = true
            results.append(.stop)
        }
    }

    private mutating func conclude(_ conclusion: DownloadMachine.Conclusion, _ checkpoint: Checkpoint?) {
        guard !row.hasEnded else { return }
        switch conclusion {
        case .succeeded:
            if !disk.finalIsDurable { problems.append("the end is committed before the file is durable") }
            end(conclusion)
        case .failed(let failure):
            if failure.status == .destinationExists { problems.append("the task's own file counts as a foreign file") }
            end(conclusion)
        case .retry(let failure, _, _, let fromZero):
            if fromZero, checkpoint != nil { problems.append("a checkpoint is kept for untrusted bytes") }
            hadMismatch = failure.status == .sizeMismatch
            row.checkpoint = checkpoint
        case .stopped: row.checkpoint = checkpoint
        case .credential:
            if checkpoint != row.checkpoint { problems.append("a challenge has changed the checkpoint") }
            row.checkpoint = checkpoint
        }
    }

    private mutating func end(_ conclusion: DownloadMachine.Conclusion) {
        row.end = conclusion
        row.events += 1
    }

    // MARK: Actions

    private mutating func handle(_ event: DownloadMachine.Event) {
        let wasOver = machine.isOver
        let actions = machine.handle(event)
        if isTraced { trace.append("\(event) -> \(actions)") }
        for action in actions {
            if wasOver { problems.append("\(action) after the end") }
            perform(action)
        }
    }

    private mutating func perform(_ action: DownloadMachine.Action) {
        switch action {
        case .checkSealedFile(let intent): diskQueue.append(.checkSealedFile(intent))
        case .openPart(let isSameBoot, let synced):
            diskQueue.append(.open(isSameBoot: isSameBoot, synced: Int(clamping: synced)))
        case .checkSpace, .checkDestinationFile, .findKnownRepresentation, .recheckDestinationFile, .reserveName,
            .hash:
            problems.append("\(action), which the terms do not need")
        case .startTransfer(let offset, let ifRange, _):
            transfers += 1
            if transfers > 1, offset > 0 { problems.append("a range is requested a second time") }
            let requested = machine.requestedBytes(from: offset).map {
                (first: Int($0.first), last: $0.last.map { Int($0) })
            }
            deliveries = server.response(requested, ifRange: ifRange, isGood: !injectsFaults, &random)
        case .stopTransfer:
            if deliveries == nil { problems.append("a transfer is stopped after its end") }
            deliveries = nil
        case .resumeTransfer: isPaused = false
        case .releaseSlot:
            slotsReleased += 1
            if deliveries != nil { problems.append("the slot is released while bytes flow") }
        case .forgetCheckpoint: storeQueue.append(.forget)
        case .restartPart: diskQueue.append(.restart)
        case .flush: diskQueue.append(.append(takeBuffer()))
        case .sync: diskQueue.append(.sync)
        case .recordCheckpoint(let checkpoint): storeQueue.append(.recordCheckpoint(checkpoint))
        case .seal(let size): diskQueue.append(.seal(takeBuffer(), size: Int(clamping: size)))
        case .recordIntent(let intent): storeQueue.append(.recordIntent(intent))
        case .place(let intent): diskQueue.append(.place(intent))
        case .discardPart: diskQueue.append(.discard)
        case .conclude(let conclusion, let checkpoint):
            conclusions += 1
            storeQueue.append(.conclude(conclusion, checkpoint))
        case .closePart: diskQueue.append(.close)
        }
    }

    private mutating func takeBuffer() -> [UInt8] {
        defer { buffer = [] }
        return buffer
    }

    // MARK: Checks

    private mutating func endAttempt() {
        if slotsReleased != 1 { problems.append("the slot was released \(slotsReleased) times") }
        if conclusions != 1 { problems.append("there were \(conclusions) conclusions") }
        // If the server refuses the range, the whole file is requested.
        if transfers > 2 { problems.append("there were \(transfers) transfers") }
        if deliveries != nil { problems.append("a transfer continues after the end") }
        // Pending operations are still performed, and the ended machine gets their results.
        while !diskQueue.isEmpty { performDisk() }
        while !storeQueue.isEmpty { performStore() }
        for event in results + [.tick, .cancel, .stop, .concluded, .discarded, .transferComplete] { handle(event) }
        // If the task is cancelled during its attempt, the state machine removes the part file. If the task is
        // cancelled after the end of the attempt, the engine removes the part file. The simulation has no engine, so
        // the part file may be left.
        if row.wasCancelled, disk.part != nil, conclusionCameFirst { mayHavePart = true }
    }

    /// Whether the attempt had ended before the task was cancelled.
    private var conclusionCameFirst: Bool { results.contains(.cancel) }

    private mutating func checkFinal() {
        guard let final = disk.final else { return }
        let range = range ?? ByteRange(start: 0)
        let isRight = server.representations.contains { file in
            let bytes = range.bytes(of: UInt64(file.bytes.count))
            let wanted = bytes.map { Array(file.bytes[Int($0.lowerBound)..<Int($0.upperBound)]) }
            return final.bytes == (wanted ?? (self.range == nil ? [] : nil))
        }
        if !isRight {
            problems.append("the file is a mixture of \(final.bytes.count) bytes")
        }
    }

    private mutating func check() {
        if row.events != 1 { problems.append("the task ended \(row.events) times") }
        checkFinal()
        if row.end == .succeeded, !disk.finalIsDurable { problems.append("the file is not durable") }
        if row.end != .succeeded, disk.part != nil, !mayHavePart { problems.append("a part file is left") }
        if row.end == .succeeded, disk.part != nil { problems.append("a part file is left beside the file") }
    }
}

extension DownloadMachine.BufferLimits {
    /// Small limits. A few hundred bytes reach each of these limits.
    static var tiny: Self {
        var limits = Self()
        limits.flush = 32
        limits.outstanding = 100
        limits.firstSync = 200
        limits.firstCheckpoint = 32
        limits.aged = 32
        limits.unrecorded = 70
        limits.laterSync = 150
        limits.syncTicks = 2
        limits.errorBody = 2
        return limits
    }
}
