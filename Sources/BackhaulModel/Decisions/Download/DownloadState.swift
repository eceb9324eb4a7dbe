extension DownloadMachine {
    /// The state of an attempt (one run of a download), with the data that exists only in this state. In `preparing`
    /// and `exchanging`, the attempt has a slot. When the attempt enters any other state, it releases the slot.
    enum State: Sendable {
        /// The steps that need no server.
        case preparing(Preparation)
        /// A request was sent.
        case exchanging(Exchange, Transfer)
        /// Bytes are being written and synced for the next attempt.
        case saving(Saving)
        /// All bytes have come.
        case finishing(Finishing, isCancelled: Bool)
        /// The part file, which has the bytes of the download, is being removed before the result of the attempt is
        /// committed.
        case discarding(Conclusion)
        /// The end of the attempt is being committed.
        case concluding(Concluding)
        /// The task was cancelled while the result of the attempt was committed. The part file is being removed.
        case removing
        case over

        var holdsSlot: Bool {
            switch self {
            case .preparing, .exchanging: true
            case .saving, .finishing, .discarding, .concluding, .removing, .over: false
            }
        }

        var hasRunningTransfer: Bool {
            if case .exchanging(_, .running) = self { true } else { false }
        }
    }

    enum Preparation: Sendable {
        case ready
        /// A crash happened after the finish intent (the record that all bytes have come) was stored. The disk checks
        /// whether the sealed (complete and synced) file exists, as part file or under its final name. `expiry`: set if
        /// the task has reached its deadline meanwhile.
        case checkingSealedFile(FinishIntent, expiry: Failure?)
        /// The disk checks whether the file at the destination has the checksum and size that the request states.
        case checkingDestinationFile
        /// The file system was full. The disk checks whether there is space now.
        case checkingSpace
        /// The store searches for the representation (the content of the server's file at one time) that an earlier
        /// task placed at the destination.
        case findingKnownRepresentation
        /// The part file is being opened, to continue it.
        case opening(Checkpoint)
        /// The store removes its record of a useless file before a byte of this file is overwritten.
        case forgetting(StaleFile)
    }

    /// The file that proved useless before the first request.
    enum StaleFile: Sendable {
        case sealedFile, partFile
    }

    enum Exchange: Sendable {
        /// The request was sent, and no response has come. `condition`: a known representation. The server must not
        /// send this representation again. Nil if the server may send any representation.
        case requesting(condition: KnownRepresentation?)
        /// The server has responded that it has no other representation than the known one. The disk checks whether the
        /// file at the destination is still unchanged.
        case recheckingDestinationFile(KnownRepresentation)
        /// The body of the response begins with the first byte of the file. The store forgets the bytes of earlier
        /// attempts before the first of them is overwritten. Until the store has done this, the transfer is paused.
        case forgetting(Reception)
        /// The store reserves the name that the server has given. Until this is done, the transfer is paused.
        case naming(Reception)
        case receiving(Reception)
        /// The body of a response that is not accepted.
        case refusing(RefusedResponse)
    }

    enum Transfer: Sendable {
        case running
        /// The transfer has ended by itself, so it needs no stop. Only the exchanges `recheckingDestinationFile`,
        /// `forgetting` and `naming` can continue after the end of their transfer, because they wait for the disk or
        /// the store.
        case ended
    }

    /// The body of a file on its way through the buffer to the disk. This struct has only plain numbers, because it is
    /// copied out of the state and back for each chunk.
    struct Reception: Sendable {
        /// The offset at which this attempt continues.
        let startOffset: UInt64
        /// The length that the file will have at the end of the response's body; nil if this length is unknown until
        /// the body ends.
        let bodyEnd: UInt64?
        /// Whether a later attempt can continue: the server gave a validator (ETag or Last-Modified), or the request
        /// has a digest.
        let isResumable: Bool
        var part: KnownPart
        /// If the body is the whole resource, but the file is only a range of it: how many bytes of the body still come
        /// before the file. Nil: all bytes of the body belong to the file.
        var skipped: UInt64?
        /// The bytes that were received and not yet given to the disk.
        var buffered: UInt64 = 0
        var sync = PendingWork()
        var ticksSinceSync = 0
        var record = PendingWork()
        /// Whether the transfer waits for `resumeTransfer`.
        var isPaused = false
        /// Whether the event `aged` has come.
        var isSlow = false
    }

    /// The part file as the disk has last reported it.
    struct KnownPart: Sendable {
        var written: UInt64
        /// The fingerprint of the written bytes, by which the engine recognises the part file after a restart.
        var fingerprint: PartFingerprint?
        var synced: UInt64
        var syncedChecksum: UInt32?

        /// `length`: the length of the opened part file. `checkpoint`: the durable checkpoint.
        init(opened length: UInt64, _ checkpoint: Checkpoint?) {
            written = length
            fingerprint = checkpoint?.part.flatMap { $0.length <= length ? $0 : nil }
            synced = min(checkpoint?.syncedOffset ?? 0, length)
            syncedChecksum = synced == checkpoint?.syncedOffset ? checkpoint?.syncedChecksum : nil
        }

        /// `offset`: how many bytes of the file were received.
        mutating func noteWritten(_ length: UInt64, _ fingerprint: PartFingerprint?, of offset: UInt64) {
            written = min(length, offset)
            self.fingerprint = fingerprint
        }

        mutating func noteSynced(_ length: UInt64, _ checksum: UInt32?, of offset: UInt64) {
            if length >= synced, length <= offset { syncedChecksum = checksum }
            synced = max(synced, min(length, offset))
        }
    }

    /// Work that the state machine performs repeatedly, but never twice at the same time: a sync of the part file, or
    /// the record of a checkpoint.
    struct PendingWork: Sendable {
        private(set) var isUnderWay = false
        private(set) var wasDone = false

        mutating func begin() { isUnderWay = true }

        mutating func finish() { (isUnderWay, wasDone) = (false, true) }
    }

    struct RefusedResponse: Sendable {
        let refusal: Refusal
        /// The seconds since the head of the response.
        var ticks = 0
    }

    /// Why the response is not accepted, and whether another attempt may follow.
    enum Refusal: Sendable {
        case again(Failure)
        case final(Failure)
        case credential(AuthenticationChallenge)
    }

    /// The data of a sync in progress, and perhaps of a write before it.
    struct Saving: Sendable {
        let conclusion: Conclusion
        var reception: Reception
        /// Whether bytes were written after the present sync had started.
        var needsSecondSync: Bool
    }

    enum Finishing: Sendable {
        case sealing
        case recordingIntent(FinishIntent)
        /// The file is getting its final name. `expiry`: the task's failure if its deadline has already passed. Then
        /// the task does not wait until the disk works again.
        case placing(expiry: Failure?)
    }

    struct Concluding: Sendable {
        let conclusion: Conclusion
        /// Whether the part file was placed or removed. If so, a file with the same name belongs to another task, and
        /// must not be removed.
        let partIsGone: Bool
        /// Whether the file is complete, and only needs its final name.
        let hasCompleteFile: Bool
        var isCancelled = false
    }

    struct Counters: Sendable {
        var offset: UInt64 = 0
        var bytesReceived: UInt64 = 0
        var furthest: UInt64
        var madeProgress = false
        /// Whether the attempt knows with how many bytes it begins.
        private(set) var hasBegun = false

        /// Sets the offset to the number of bytes with which the attempt begins.
        mutating func begin(at length: UInt64) {
            offset = length
            hasBegun = true
            furthest = max(furthest, length)
        }
    }

    struct KnownFile: Sendable {
        var size: UInt64?
        var validator = Validator()
        var facts = RepresentationMetadata()
        var checksum: Checksum?
        var isUnchanged = false
    }
}

extension DownloadMachine {
    public enum Phase: Sendable {
        case ready, checkingSealedFile, checkingSpace, checkingDestinationFile, findingKnownRepresentation, opening,
            forgetting
        case requesting, recheckingDestinationFile, naming, receiving, receivingErrorBody
        case sealing, recordingIntent, placing
        case saving, discarding, concluding, over
    }

    /// The state without its data.
    public var phase: Phase {
        switch state {
        case .preparing(.ready): .ready
        case .preparing(.checkingSealedFile): .checkingSealedFile
        case .preparing(.checkingSpace): .checkingSpace
        case .preparing(.checkingDestinationFile): .checkingDestinationFile
        case .preparing(.findingKnownRepresentation): .findingKnownRepresentation
        case .preparing(.opening): .opening
        case .preparing(.forgetting), .exchanging(.forgetting, _): .forgetting
        case .exchanging(.requesting, _): .requesting
        case .exchanging(.recheckingDestinationFile, _): .recheckingDestinationFile
        case .exchanging(.naming, _): .naming
        case .exchanging(.receiving, _): .receiving
        case .exchanging(.refusing, _): .receivingErrorBody
        case .finishing(.sealing, _): .sealing
        case .finishing(.recordingIntent, _): .recordingIntent
        case .finishing(.placing, _): .placing
        case .saving: .saving
        case .discarding, .removing: .discarding
        case .concluding: .concluding
        case .over: .over
        }
    }
}
