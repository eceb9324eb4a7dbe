/// One attempt of a download as a value: events in, actions out, no I/O.
///
/// The order of finishing is the order of its states: the part file is sealed (written, synced), the intent recorded,
/// the file placed under its name, and only then the end committed. A crash between any two is recognised by the next
/// attempt.
public struct DownloadMachine: Sendable {
    var state = State.preparing(.ready)
    var counters: Counters
    /// What is known of the whole file.
    var file = KnownFile()
    /// The response to the latest request.
    public internal(set) var head: ResponseHead?
    /// What was durable when the attempt began or when it was last made so.
    public internal(set) var checkpoint: Checkpoint?
    /// Where the challenge of the next response is found.
    public var challenge = ChallengeSource.head

    let intent: FinishIntent?
    let bootID: String
    let terms: DownloadTerms
    let policy: TransferPolicy
    let limits: BufferLimits

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
        counters = Counters(furthest: furthest)
        self.policy = policy
        self.limits = limits
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

/// What others see.
extension DownloadMachine {
    /// Bytes of the file that are here, in the buffer or on disk.
    public var offset: UInt64 { counters.offset }
    /// Body bytes of this attempt.
    public var bytesReceived: UInt64 { counters.bytesReceived }
    /// How far any attempt has come, this one included.
    public var furthest: UInt64 { counters.furthest }
    /// This attempt made bytes durable that the next one can continue and that no earlier one had: failures count from
    /// one again. What is fetched once more, because the server let nothing be continued, is no progress.
    public var madeProgress: Bool { counters.madeProgress }

    /// Of the whole file, when known.
    public var size: UInt64? { file.size }
    /// Of the whole file, when it was computed.
    public var checksum: Checksum? { file.checksum }
    /// The server has said that its file is still the one that lies at the destination.
    public var isUnchanged: Bool { file.isUnchanged }
    /// That the server has given the file.
    public var fileName: String? { terms.isNamedByServer ? intent?.name ?? file.facts.name : nil }

    /// False while bytes cannot be taken: the transfer is to be paused.
    public var wantsBytes: Bool {
        switch state {
        case .exchanging(.receiving(let reception), _): hasRoom(reception)
        case .exchanging(.refusing, _): true
        default: false
        }
    }

    /// The buffer holds more than a kill may cost, so it is written within `agedMilliseconds`.
    public var mustFlushSoon: Bool {
        guard case .exchanging(.receiving(let reception), _) = state else { return false }
        return reception.buffered >= limits.aged
    }

    public var isOver: Bool { phase == .over }
    public var isFinishing: Bool {
        switch state {
        case .finishing, .concluding: true
        default: false
        }
    }
}
