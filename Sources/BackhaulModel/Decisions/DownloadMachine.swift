/// One attempt of a download as a value: events in, actions out, no I/O.
///
/// The order of finishing is the order of its phases: the part file is sealed (written, synced), the intent recorded,
/// the file placed under its name, and only then the end committed. A crash between any two is recognised by whoever
/// runs the task next.
public struct DownloadMachine: Sendable {
    public enum Phase: Equatable, Sendable {
        case ready
        /// A crash happened after the intent was recorded: is the sealed file there, as part or under its name?
        case lookingForSealed(FinishIntent)
        /// The part file is being opened to be continued.
        case opening
        case requesting
        /// The head says that what is there is of no use; that must be durable before a byte is overwritten.
        case forgetting
        case receiving
        /// The body of an answer that is not accepted.
        case receivingErrorBody
        case sealing
        case recordingIntent(FinishIntent)
        case placing
        /// Bytes are written and synced so that the next attempt finds them.
        case saving(Conclusion)
        /// The part file is being removed.
        case discarding(Conclusion)
        case concluding
        case over
    }

    /// How this attempt leaves the task.
    public enum Conclusion: Equatable, Sendable {
        case succeeded
        case failed(Failure)
        /// After `retryAfterSeconds` at least, if the server asked for it. `fromZero`: nothing is kept.
        case retry(Failure, reason: WaitReason, retryAfterSeconds: Int64?, fromZero: Bool)
        /// The row says already what the task is (suspended, cancelled), or the engine stops.
        case left
    }

    public enum Event: Equatable, Sendable {
        case start
        case lookedForSealed(isThere: Bool)
        case opened(length: UInt64)
        case head(ResponseHead)
        case forgotten
        /// Bytes of the body that were put into the buffer.
        case received(count: Int)
        case transferComplete
        case transferFailed(Failure, isTransient: Bool)
        /// The file is this long now.
        case appended(length: UInt64)
        case synced(length: UInt64)
        case sealed(FinishIntent)
        case intentRecorded
        /// The host cancelled the task before its intent was recorded.
        case intentRefused
        case placed
        case discarded
        /// A disk operation failed.
        case diskFailed(Failure)
        case concluded
        /// The host cancelled the task: its row has ended.
        case cancel
        /// The task was suspended, or the engine stops: keep what is there.
        case leave
        /// The task's time is over.
        case expire(Failure)
        /// Once a second.
        case tick
    }

    public enum Action: Equatable, Sendable {
        case lookForSealed(FinishIntent)
        case openPart(isSameBoot: Bool, syncedOffset: UInt64)
        case startTransfer(offset: UInt64, ifRange: String?)
        case stopTransfer
        case resumeTransfer
        /// The connection is free for another task.
        case releaseTurn
        /// Make durable that nothing is there: no checkpoint and no intent.
        case forgetCheckpoint
        /// What is in the part file counts for nothing.
        case restartPart
        /// Hand the buffer to the disk.
        case flush
        case sync
        case recordCheckpoint(Checkpoint)
        /// Hand the rest of the buffer to the disk and make the file whole.
        case seal(size: UInt64)
        case recordIntent(FinishIntent)
        case place(FinishIntent)
        case discardPart
        case conclude(Conclusion, Checkpoint?)
        case closePart
    }

    public private(set) var phase = Phase.ready
    /// Bytes of the file that are here, in the buffer or on disk.
    public private(set) var offset: UInt64 = 0
    /// Of the whole file, when known.
    public private(set) var size: UInt64?
    public private(set) var head: ResponseHead?
    /// Body bytes of this attempt.
    public private(set) var bytesReceived: UInt64 = 0
    /// Offset up to which bytes were durable when the attempt began or the last checkpoint was recorded.
    public private(set) var checkpoint: Checkpoint?
    /// New bytes became durable, or could have: the next failure counts from one again.
    public private(set) var madeProgress = false

    private let intent: FinishIntent?
    private let bootID: String
    private let limits: BufferLimits
    private var buffered: UInt64 = 0
    private var written: UInt64 = 0
    private var synced: UInt64 = 0
    private var startOffset: UInt64 = 0
    private var isSyncing = false
    private var hasSynced = false
    private var partExists: Bool
    private var validator = Validator()
    private var holdsTurn = true
    private var ticksSinceSync = 0
    private var transferIsOver = true
    private var isPaused = false

    /// How much is gathered in memory before the disk gets it, and how much may be on its way there.
    public struct BufferLimits: Sendable {
        public var flush: UInt64 = 256 << 10
        public var outstanding: UInt64 = 4 << 20
        public var firstSync: UInt64 = 1 << 20
        /// Bounds what a power loss can take.
        public var laterSync: UInt64 = 32 << 20
        public var syncTicks = 10
        public init() {}
    }

    /// `intent`: the file was sealed before a crash and lies as part or under its final name.
    public init(
        checkpoint: Checkpoint?, intent: FinishIntent?, bootID: String, limits: BufferLimits = BufferLimits()
    ) {
        self.checkpoint = checkpoint
        self.intent = intent
        self.bootID = bootID
        self.limits = limits
        partExists = checkpoint != nil || intent != nil
    }

    /// False while bytes cannot be taken: the transfer is to be paused.
    public var wantsBytes: Bool {
        switch phase {
        case .receiving: offset - written <= limits.outstanding
        case .receivingErrorBody: true
        default: false
        }
    }

    public var isOver: Bool { phase == .over }
    public var isFinishing: Bool {
        switch phase {
        case .sealing, .recordingIntent, .placing, .concluding: true
        default: false
        }
    }

    public mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .start: return start()
        case .lookedForSealed(let isThere): return lookedForSealed(isThere)
        case .opened(let length): return opened(length)
        case .head(let head): return received(head)
        case .forgotten: return forgotten()
        case .received(let count): return received(count)
        case .transferComplete: return transferComplete()
        case .transferFailed(let failure, let isTransient): return transferFailed(failure, isTransient)
        case .appended(let length): return appended(length)
        case .synced(let length): return synced(length)
        case .sealed(let intent):
            guard phase == .sealing else { return [] }
            phase = .recordingIntent(intent)
            return [.recordIntent(intent)]
        case .intentRefused:
            guard case .recordingIntent = phase else { return [] }
            return discard(.left)
        case .intentRecorded, .placed, .discarded, .concluded: return advanced(event)
        case .diskFailed(let failure): return diskFailed(failure)
        case .cancel: return cancel()
        case .leave: return leave()
        case .expire(let failure): return expire(failure)
        case .tick: return tick()
        }
    }

    // MARK: The way forward

    private mutating func start() -> [Action] {
        guard phase == .ready else { return [] }
        if let intent {
            phase = .lookingForSealed(intent)
            return [.lookForSealed(intent)]
        }
        guard let checkpoint else { return request(from: 0) }
        phase = .opening
        return [.openPart(isSameBoot: checkpoint.bootID == bootID, syncedOffset: checkpoint.syncedOffset)]
    }

    private mutating func lookedForSealed(_ isThere: Bool) -> [Action] {
        guard case .lookingForSealed(let intent) = phase else { return [] }
        if isThere {
            begin(at: intent.size)
            size = intent.size
            phase = .placing
            return releaseTurn() + [.place(intent)]
        }
        checkpoint = nil
        phase = .forgetting
        return [.forgetCheckpoint]
    }

    private mutating func opened(_ length: UInt64) -> [Action] {
        guard phase == .opening, let checkpoint else { return [] }
        size = checkpoint.size
        validator = checkpoint.validator
        if let size, length == size, length > 0 {
            begin(at: length)
            return seal()
        }
        if length == 0 || checkpoint.size.map({ length > $0 }) == true || checkpoint.validator.ifRange == nil {
            self.checkpoint = nil
            phase = .forgetting
            return [.forgetCheckpoint]
        }
        return request(from: length)
    }

    private mutating func request(from length: UInt64) -> [Action] {
        begin(at: length)
        phase = .requesting
        transferIsOver = false
        return [.startTransfer(offset: length, ifRange: length > 0 ? validator.ifRange : nil)]
    }

    private mutating func begin(at length: UInt64) {
        offset = length
        written = length
        startOffset = length
        synced = min(checkpoint?.syncedOffset ?? 0, length)
    }

    private mutating func received(_ head: ResponseHead) -> [Action] {
        guard phase == .requesting else { return [] }
        self.head = head
        switch ResponsePlan.decide(head, offset: offset, known: checkpoint) {
        case .append(let size):
            self.size = size
            phase = .receiving
            return []
        case .startOver(let size, let validator):
            self.size = size
            self.validator = validator
            offset = 0
            written = 0
            startOffset = 0
            synced = 0
            guard checkpoint != nil else {
                phase = .receiving
                return []
            }
            checkpoint = nil
            phase = .forgetting
            return [.forgetCheckpoint]
        case .whole:
            return endTransfer() + seal()
        case .retry(let failure, let fromZero):
            return endTransfer() + retry(failure, fromZero: fromZero)
        case .fail:
            phase = .receivingErrorBody
            return []
        }
    }

    private mutating func forgotten() -> [Action] {
        guard phase == .forgetting else { return [] }
        guard !transferIsOver else {
            // Nothing was asked for yet: the part file turned out to be of no use.
            return [.restartPart] + request(from: 0)
        }
        phase = .receiving
        isPaused = false
        return [.restartPart, .resumeTransfer]
    }

    private mutating func received(_ count: Int) -> [Action] {
        bytesReceived += UInt64(count)
        guard phase == .receiving else { return [] }
        offset += UInt64(count)
        buffered += UInt64(count)
        if let size, offset > size {
            return endTransfer()
                + retry(
                    Failure(.badResponse, "the server sent more than the \(size) bytes that it announced"),
                    fromZero: true)
        }
        return buffered >= limits.flush ? flush() : []
    }

    private mutating func flush() -> [Action] {
        guard buffered > 0 else { return [] }
        buffered = 0
        partExists = true
        isPaused = offset - written > limits.outstanding
        return [.flush]
    }

    private mutating func appended(_ length: UInt64) -> [Action] {
        written = length
        guard phase == .receiving else { return [] }
        var actions: [Action] = []
        if isPaused, offset - written <= limits.outstanding / 2 {
            isPaused = false
            actions.append(.resumeTransfer)
        }
        let step = hasSynced ? limits.laterSync : limits.firstSync
        let isNearlyWhole = size.map { $0 - min($0, written) < limits.firstSync } ?? false
        if written - min(written, synced) >= step, !isNearlyWhole { actions += sync() }
        return actions
    }

    private mutating func sync() -> [Action] {
        guard !isSyncing else { return [] }
        isSyncing = true
        ticksSinceSync = 0
        return [.sync]
    }

    private mutating func synced(_ length: UInt64) -> [Action] {
        isSyncing = false
        hasSynced = true
        synced = max(synced, length)
        if length > startOffset { madeProgress = true }
        switch phase {
        case .receiving:
            guard let checkpoint = makeCheckpoint() else { return [] }
            self.checkpoint = checkpoint
            return [.recordCheckpoint(checkpoint)]
        case .saving(let conclusion):
            checkpoint = makeCheckpoint()
            return conclude(conclusion)
        default:
            return []
        }
    }

    /// Nil when there is nothing to continue from safely.
    private func makeCheckpoint() -> Checkpoint? {
        guard synced > 0, validator.ifRange != nil else { return nil }
        return Checkpoint(
            validator: validator, finalURL: head?.finalURL ?? checkpoint?.finalURL ?? "", size: size,
            syncedOffset: synced, bootID: bootID)
    }

    private mutating func transferComplete() -> [Action] {
        transferIsOver = true
        switch phase {
        case .receiving:
            if let size, offset != size {
                return keepForLater(
                    .retry(
                        Failure(.connectionLost, "the answer ended after \(offset) of \(size) bytes"),
                        reason: .retry, retryAfterSeconds: nil, fromZero: false))
            }
            return releaseTurn() + seal()
        case .receivingErrorBody:
            return releaseTurn() + failWithHead()
        default:
            return []
        }
    }

    private mutating func seal() -> [Action] {
        phase = .sealing
        buffered = 0
        partExists = true
        size = offset
        return [.seal(size: offset)]
    }

    private mutating func advanced(_ event: Event) -> [Action] {
        switch (event, phase) {
        case (.intentRecorded, .recordingIntent(let intent)):
            phase = .placing
            return [.place(intent)]
        case (.placed, .placing): return conclude(.succeeded)
        case (.discarded, .discarding(let conclusion)):
            partExists = false
            checkpoint = nil
            return conclude(conclusion)
        case (.concluded, .concluding):
            phase = .over
            return [.closePart]
        default: return []
        }
    }

    // MARK: The ways out

    private mutating func releaseTurn() -> [Action] {
        guard holdsTurn else { return [] }
        holdsTurn = false
        return [.releaseTurn]
    }

    private mutating func endTransfer() -> [Action] {
        guard !transferIsOver else { return releaseTurn() }
        transferIsOver = true
        return [.stopTransfer] + releaseTurn()
    }

    private mutating func transferFailed(_ failure: Failure, _ isTransient: Bool) -> [Action] {
        transferIsOver = true
        switch phase {
        case .requesting, .forgetting, .receiving:
            guard isTransient else { return releaseTurn() + discard(.failed(failure)) }
            return keepForLater(.retry(failure, reason: .retry, retryAfterSeconds: nil, fromZero: false))
        case .receivingErrorBody:
            return releaseTurn() + failWithHead()
        default:
            return []
        }
    }

    private mutating func failWithHead() -> [Action] {
        let failure: Failure
        if let head, case .fail(let reason) = ResponsePlan.decide(head, offset: offset, known: checkpoint) {
            failure = reason
        } else {
            failure = Failure(.badResponse, "the server's answer cannot be used")
        }
        return discard(.failed(failure))
    }

    private mutating func retry(_ failure: Failure, fromZero: Bool) -> [Action] {
        let conclusion = Conclusion.retry(
            failure, reason: .retry, retryAfterSeconds: head?.retryAfterSeconds, fromZero: fromZero)
        return fromZero ? releaseTurn() + discard(conclusion) : keepForLater(conclusion)
    }

    /// Keeps what may be continued and concludes.
    private mutating func keepForLater(_ conclusion: Conclusion) -> [Action] {
        let turn = endTransfer()
        if phase == .forgetting || (phase == .receiving && validator.ifRange == nil) { return turn + discard(conclusion) }
        guard phase == .receiving, offset > startOffset else { return turn + conclude(conclusion) }
        let rest = flush()
        phase = .saving(conclusion)
        return turn + rest + (isSyncing ? [] : sync())
    }

    private mutating func discard(_ conclusion: Conclusion) -> [Action] {
        buffered = 0
        guard partExists || checkpoint != nil else { return conclude(conclusion) }
        phase = .discarding(conclusion)
        return [.discardPart]
    }

    private mutating func conclude(_ conclusion: Conclusion) -> [Action] {
        phase = .concluding
        return [.conclude(conclusion, checkpoint)]
    }

    private mutating func diskFailed(_ failure: Failure) -> [Action] {
        isSyncing = false
        let turn = endTransfer()
        switch phase {
        case .concluding, .over, .ready: return turn
        case .discarding(let conclusion): return turn + conclude(conclusion)
        case .saving(.left): return turn + conclude(.left)
        default: break
        }
        switch failure.status {
        case .diskFull:
            distrustUnsynced()
            return turn + conclude(.retry(failure, reason: .diskFull, retryAfterSeconds: nil, fromZero: false))
        case .diskFailed:
            // A failed sync is final for the bytes before it: only what an earlier sync confirmed counts.
            distrustUnsynced()
            return turn + conclude(.retry(failure, reason: .retry, retryAfterSeconds: nil, fromZero: false))
        default:
            return turn + discard(.failed(failure))
        }
    }

    private mutating func distrustUnsynced() { checkpoint?.bootID = "" }

    private mutating func cancel() -> [Action] {
        switch phase {
        case .ready: return discard(.left)
        // While sealing, the refused intent tells that the row has ended.
        case .sealing, .recordingIntent, .placing, .concluding, .over, .discarding: return []
        default: return endTransfer() + discard(.left)
        }
    }

    private mutating func leave() -> [Action] {
        switch phase {
        case .ready, .opening, .lookingForSealed, .requesting, .forgetting, .receivingErrorBody:
            return endTransfer() + conclude(.left)
        case .receiving: return keepForLater(.left)
        default: return []
        }
    }

    private mutating func expire(_ failure: Failure) -> [Action] {
        switch phase {
        case .ready, .opening, .requesting, .forgetting, .receiving, .receivingErrorBody:
            return endTransfer() + discard(.failed(failure))
        default: return []
        }
    }

    private mutating func tick() -> [Action] {
        guard phase == .receiving else { return [] }
        ticksSinceSync += 1
        var actions: [Action] = flush()
        if offset > synced, !hasSynced || ticksSinceSync >= limits.syncTicks { actions += sync() }
        return actions
    }
}
