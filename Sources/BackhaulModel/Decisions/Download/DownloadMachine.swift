/// One attempt (one run) of a download as a state machine. It takes events and returns actions, and performs no I/O.
///
/// The bytes of a download are written to a *part file*. The file is finished in four steps. First, the part file is
/// sealed (completely written and synced). Second, the *finish intent*, by which the engine recognises the sealed file,
/// is recorded. Third, the file is placed under its final name. Fourth, the end of the attempt is committed. After a
/// crash between two steps, the next attempt finds out which steps are done.
public struct DownloadMachine: Sendable {
    var state = State.preparing(.ready)
    var counters: Counters
    /// The facts known about the whole file.
    var file = KnownFile()
    /// The response to the latest request.
    public internal(set) var head: ResponseHead?
    /// The checkpoint, which is what the store has recorded about the part file. It is the latest checkpoint of this
    /// attempt, or the checkpoint with which the attempt began.
    public internal(set) var checkpoint: Checkpoint?
    /// Where the challenge of the next response is found.
    public var challenge = ChallengeSource.head
    /// Whether the body of the response has shown that credentials of the engine had expired. Then the task is tried
    /// again.
    public var hasExpiredCredentials = false

    let intent: FinishIntent?
    let bootID: String
    let terms: DownloadTerms
    let policy: TransferPolicy
    let limits: BufferLimits

    /// Makes the state machine of one attempt. `intent`: set if the file was sealed before a crash. The file then
    /// exists as part file or under its final name. `furthest`: the offset that earlier attempts have reached.
    /// `policy`: has the rules for retries. It may demand a retry even after an error status or a bad response, which
    /// usually end a task. Then the attempt is concluded with `retry`. `RetryDecision` later decides whether the retry
    /// takes place.
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
        case .sealedFileChecked(let isThere): sealedFileChecked(isThere)
        case .spaceChecked: spaceChecked()
        case .destinationFileChecked(let file): destinationFileChecked(file)
        case .knownRepresentationFound(let version): knownRepresentationFound(version)
        case .destinationFileRechecked(let isSame): destinationFileRechecked(isSame)
        case .opened(let length): opened(length)
        case .head(let head): received(head)
        case .forgotten: forgotten()
        case .nameReserved(let name): nameReserved(name)
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
        case .stop: stop()
        case .expire(let failure): expire(failure)
        case .tick: tick()
        }
    }
}

/// The properties that the runner reads. The *runner* is the object that performs the actions.
extension DownloadMachine {
    /// How many bytes of the file have come; they are in the buffer or on disk.
    public var offset: UInt64 { counters.offset }
    /// The body bytes that this attempt has received.
    public var bytesReceived: UInt64 { counters.bytesReceived }
    /// The highest offset that any attempt has reached, including this one.
    public var furthest: UInt64 { counters.furthest }
    /// Whether this attempt made bytes durable that no earlier attempt had made durable. If so, the next attempt can
    /// continue with these bytes, and failures are counted from one again. Bytes below the highest offset of the
    /// earlier attempts are no progress, even if they were lost.
    public var madeProgress: Bool { counters.madeProgress }

    /// The range to request for the rest of the file (see `DownloadTerms`).
    public func requestedBytes(from offset: UInt64) -> (first: UInt64, last: UInt64?)? {
        terms.requestedBytes(from: offset)
    }

    /// The size of the whole file, if it is known.
    public var size: UInt64? { file.size }
    /// `offset` and `size` for listings. Until this attempt knows how many bytes it can continue, and until a response
    /// states the size, the checkpoint of the earlier attempts has these numbers.
    public var progress: (offset: UInt64, size: UInt64?) {
        (
            counters.hasBegun ? offset : max(offset, checkpoint?.syncedOffset ?? 0),
            size ?? (head == nil ? checkpoint?.size : nil)
        )
    }
    /// The digest of the whole file, if it was computed.
    public var checksum: Checksum? { file.checksum }
    /// Whether the server has confirmed that the file at the destination is still current.
    public var isUnchanged: Bool { file.isUnchanged }
    /// Whether the next request asks caches for a fresh copy, because the last copy had a wrong digest or size, or
    /// contradicted an earlier response.
    public var bypassesCaches: Bool { terms.hadMismatch || checkpoint?.isMetadataOnly == true }
    /// The file name that the server has given.
    public var fileName: String? { terms.isNamedByServer ? intent?.name ?? file.facts.name : nil }

    /// Whether the state machine can take bytes now. If not, the transfer must be paused.
    public var wantsBytes: Bool {
        switch state {
        case .exchanging(.receiving(let reception), _): hasRoom(reception)
        case .exchanging(.refusing, _): true
        default: false
        }
    }

    /// Whether the buffer has reached `BufferLimits.aged`. If so, the buffer must be written within `agedMilliseconds`.
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
