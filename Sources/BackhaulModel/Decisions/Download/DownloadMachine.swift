/// One attempt of a download as a value: events in, actions out, no I/O.
///
/// The order of finishing is the order of its phases: the part file is sealed (written, synced), the intent recorded,
/// the file placed under its name, and only then the end committed. A crash between any two is recognised by whoever
/// runs the task next.
public struct DownloadMachine: Sendable {
    public internal(set) var phase = Phase.ready
    /// Bytes of the file that are here, in the buffer or on disk.
    public internal(set) var offset: UInt64 = 0
    /// Of the whole file, when known.
    public internal(set) var size: UInt64?
    public internal(set) var head: ResponseHead?
    /// Body bytes of this attempt.
    public internal(set) var bytesReceived: UInt64 = 0
    /// What was durable when the attempt began or when it was last made so.
    public internal(set) var checkpoint: Checkpoint?
    /// This attempt made bytes durable that the next one can continue and that no earlier one had: failures count from
    /// one again. What is fetched once more, because the server let nothing be continued, is no progress.
    public internal(set) var madeProgress = false
    /// How far any attempt has come, this one included.
    public internal(set) var furthest: UInt64

    /// The server has said that its file is still the one that lies at the destination.
    public internal(set) var isUnchanged = false
    /// Of the whole file, when it was computed.
    public internal(set) var checksum: Checksum?

    let intent: FinishIntent?
    let bootID: String
    let terms: DownloadTerms
    let policy: TransferPolicy
    /// What the answer that comes next asks for, when that is known better than from its head.
    public var question: Question = .asTheHeadSays

    public enum Question: Equatable, Sendable {
        case asTheHeadSays
        case nothing
        case demand(AuthenticationDemand)
    }

    let limits: BufferLimits
    /// In the buffer: received, not yet handed to the disk.
    var buffered: UInt64 = 0
    /// In the part file, as far as the disk has told.
    var written: UInt64 = 0
    var synced: UInt64 = 0
    /// From which this attempt continued.
    var startOffset: UInt64 = 0
    /// Of the file when the answer's body has ended; nil when only its end will tell.
    var bodyEnd: UInt64?
    var validator = Validator()
    var facts = RepresentationFacts()
    /// What only another version is asked for than.
    var condition: FileVersion?
    var hasLookedForFile = false
    var hasSpace = false
    var transferIsOver = true
    var holdsTurn = true
    /// The transfer was told to wait, by `wantsBytes`.
    var isPaused = false
    var isSyncing = false
    var hasSynced = false
    /// The body takes longer than a kill may cost.
    var isSlow = false
    /// A checkpoint is on its way to the store.
    var isRecording = false
    var hasRecorded = false
    var part: PartStamp?
    var syncedChecksum: UInt32?
    /// Bytes were written after the sync that is under way had been asked for.
    var needsLastSync = false
    var ticksSinceSync = 0
    /// Since the head of a response that is not accepted.
    var errorTicks = 0
    /// Why the answer is not accepted.
    var refusal: Refusal?

    /// Why the answer is not accepted, and whether another try may be.
    enum Refusal: Equatable, Sendable {
        case again(Failure)
        case final(Failure)
        case credential(AuthenticationDemand)
    }
    /// The task's time was over while its sealed file was being looked for.
    var expiry: Failure?
    var isCancelled = false
    var hasConcluded = false
    /// The failure of a `retry` or `credential` that is being concluded.
    var retriedFailure: Failure?
    /// Placed or removed: what lies there now is none of ours.
    var partIsGone = false

    /// `intent`: the file was sealed before a crash and lies as part or under its final name. `furthest`: how far
    /// earlier attempts have come. `policy`: what is no lasting failure to the host, of those that are concluded as
    /// `retry`; it decides about all of them in the end.
    public init(
        checkpoint: Checkpoint?, intent: FinishIntent?, bootID: String, terms: DownloadTerms = DownloadTerms(),
        furthest: UInt64 = 0, policy: TransferPolicy = TransferPolicy(SessionConfiguration(identifier: "")),
        limits: BufferLimits = BufferLimits()
    ) {
        self.checkpoint = checkpoint
        self.intent = intent
        self.bootID = bootID
        self.terms = terms
        self.furthest = furthest
        self.policy = policy
        self.limits = limits
    }

    /// False while bytes cannot be taken: the transfer is to be paused.
    public var wantsBytes: Bool {
        switch phase {
        case .receiving:
            offset - written <= limits.outstanding
                && (!needsFirstCheckpoint || offset < (isSlow ? limits.slowUnrecorded : limits.unrecorded))
        case .receivingErrorBody: true
        default: false
        }
    }

    /// That the server has given the file.
    public var fileName: String? { terms.isNamedByServer ? intent?.name ?? facts.name : nil }

    /// The buffer holds more than a kill may cost, so it is written within `agedMilliseconds`.
    public var mustFlushSoon: Bool { phase == .receiving && buffered >= limits.aged }

    public var isOver: Bool { phase == .over }
    public var isFinishing: Bool {
        switch phase {
        case .sealing, .recordingIntent, .placing, .concluding: true
        default: false
        }
    }

    public mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .start: start()
        case .lookedForSealed(let isThere): lookedForSealed(isThere)
        case .spaceChecked: spaceChecked()
        case .lookedForFile(let file): lookedForFile(file)
        case .lookedForVersion(let version): lookedForVersion(version)
        case .lookedAgain(let isSame): lookedAgain(isSame)
        case .opened(let length): opened(length)
        case .head(let head): received(head)
        case .forgotten: forgotten()
        case .received(let count): received(count)
        case .aged: aged()
        case .transferComplete: transferComplete()
        case .transferFailed(let failure, let isTransient): transferFailed(failure, isTransient)
        case .appended(let length, let part): appended(length, part)
        case .synced(let length, let checksum): synced(length, checksum)
        case .checkpointRecorded: checkpointRecorded()
        case .sealed(let intent, let checksum): sealed(intent, checksum)
        case .intentRecorded: intentRecorded()
        case .intentRefused: intentRefused()
        case .placed: placed()
        case .discarded: discarded()
        case .diskFailed(let failure): diskFailed(failure)
        case .concluded: concluded()
        case .retryRefused: retryRefused()
        case .cancel: cancel()
        case .leave: leave()
        case .expire(let failure): expire(failure)
        case .tick: tick()
        }
    }
}
