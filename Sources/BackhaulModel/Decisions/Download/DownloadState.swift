extension DownloadMachine {
    /// Where the attempt is, with what exists there only. `preparing` and `exchanging` hold the slot; entering any
    /// other state releases it.
    enum State: Sendable {
        /// What can be found out without the server.
        case preparing(Preparation)
        /// A request was sent.
        case exchanging(Exchange, Transfer)
        /// Bytes are written and synced so that the next attempt finds them.
        case saving(Saving)
        /// All bytes are here.
        case finishing(Finishing, isCancelled: Bool)
        /// The part file is being removed before the conclusion.
        case discarding(Conclusion)
        /// How the attempt ended is being committed.
        case concluding(Concluding)
        /// The host cancelled the task while the conclusion was committed: its part file is being removed.
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
        /// A crash happened after the intent was recorded: is the sealed file there, as part or under its name?
        /// `expiry`: the task's time was over meanwhile.
        case lookingForSealed(FinishIntent, expiry: Failure?)
        /// The file that lies at the destination may be the one that is wanted.
        case lookingForFile
        /// The file system was full: is there room now?
        case checkingSpace
        /// The version that an earlier task has put at the destination is looked up.
        case lookingForVersion
        /// The part file is being opened to be continued.
        case opening(Checkpoint)
        /// A file that is of no use is forgotten in the store before a byte of it is overwritten.
        case forgetting(Useless)
    }

    /// What turned out to be of no use before the first request.
    enum Useless: Sendable {
        case sealedFile, partFile
    }

    enum Exchange: Sendable {
        /// `condition`: a version other than this one is asked for.
        case requesting(condition: FileVersion?)
        /// The server has no other version: is the file still there?
        case lookingAgain(FileVersion)
        /// The response starts over. The bytes of earlier attempts are forgotten in the store before the first of them
        /// is overwritten; until then the transfer is paused.
        case forgetting(Reception)
        case receiving(Reception)
        /// The body of a response that is not accepted.
        case refusing(RefusedResponse)
    }

    enum Transfer: Sendable {
        case running
        /// By itself: it is not stopped. The attempt soon leaves `requesting`, `receiving` and `refusing`.
        case ended
    }

    /// The body of a file on its way through the buffer to the disk. It holds plain numbers only, because it is copied
    /// out of its state and back for each piece.
    struct Reception: Sendable {
        /// From which this attempt continues.
        let startOffset: UInt64
        /// Length of the file when the response's body has ended; nil when only its end will tell.
        let bodyEnd: UInt64?
        /// The server gave a validator, so a later attempt can continue.
        let isResumable: Bool
        var part: KnownPart
        /// Received, not yet handed to the disk.
        var buffered: UInt64 = 0
        var sync = PendingWork()
        var ticksSinceSync = 0
        var record = PendingWork()
        /// The transfer waits until `resumeTransfer`.
        var isPaused = false
        /// The body takes longer than a kill may cost.
        var isSlow = false
    }

    /// The part file, as far as the disk has reported.
    struct KnownPart: Sendable {
        var written: UInt64
        /// Of what is written.
        var stamp: PartStamp?
        var synced: UInt64
        var syncedChecksum: UInt32?

        /// `length`: of the part file that was opened. `checkpoint`: what is durable of it.
        init(opened length: UInt64, _ checkpoint: Checkpoint?) {
            written = length
            stamp = checkpoint?.part.flatMap { $0.length <= length ? $0 : nil }
            synced = min(checkpoint?.syncedOffset ?? 0, length)
            syncedChecksum = synced == checkpoint?.syncedOffset ? checkpoint?.syncedChecksum : nil
        }

        /// `offset`: bytes that were received.
        mutating func noteWritten(_ length: UInt64, _ stamp: PartStamp?, of offset: UInt64) {
            written = min(length, offset)
            self.stamp = stamp
        }

        mutating func noteSynced(_ length: UInt64, _ checksum: UInt32?, of offset: UInt64) {
            if length >= synced, length <= offset { syncedChecksum = checksum }
            synced = max(synced, min(length, offset))
        }
    }

    /// A sync of the part file or the record of a checkpoint: done many times, one at a time.
    struct PendingWork: Sendable {
        private(set) var isUnderWay = false
        private(set) var wasDone = false

        mutating func begin() { isUnderWay = true }

        mutating func finish() { (isUnderWay, wasDone) = (false, true) }
    }

    struct RefusedResponse: Sendable {
        let refusal: Refusal
        /// Since the head.
        var ticks = 0
    }

    /// Why the response is not accepted, and whether another attempt may follow.
    enum Refusal: Sendable {
        case again(Failure)
        case final(Failure)
        case credential(AuthenticationDemand)
    }

    /// A sync is under way, and perhaps a write before it.
    struct Saving: Sendable {
        let conclusion: Conclusion
        var reception: Reception
        /// Bytes were written after the sync that is under way had been started.
        var needsSecondSync: Bool
    }

    enum Finishing: Sendable {
        case sealing
        case recordingIntent(FinishIntent)
        case placing
    }

    struct Concluding: Sendable {
        let conclusion: Conclusion
        /// Placed or removed: what lies there now belongs to others.
        let partIsGone: Bool
        var isCancelled = false
    }

    struct Counters: Sendable {
        var offset: UInt64 = 0
        var bytesReceived: UInt64 = 0
        var furthest: UInt64
        var madeProgress = false

        /// Counts from a part file of this length.
        mutating func begin(at length: UInt64) {
            offset = length
            furthest = max(furthest, length)
        }
    }

    struct KnownFile: Sendable {
        var size: UInt64?
        var validator = Validator()
        var facts = RepresentationFacts()
        var checksum: Checksum?
        var isUnchanged = false
    }
}

extension DownloadMachine {
    public enum Phase: Sendable {
        case ready, lookingForSealed, checkingSpace, lookingForFile, lookingForVersion, opening, forgetting
        case requesting, lookingAgain, receiving, receivingErrorBody
        case sealing, recordingIntent, placing
        case saving, discarding, concluding, over
    }

    /// The state without its data.
    public var phase: Phase {
        switch state {
        case .preparing(.ready): .ready
        case .preparing(.lookingForSealed): .lookingForSealed
        case .preparing(.checkingSpace): .checkingSpace
        case .preparing(.lookingForFile): .lookingForFile
        case .preparing(.lookingForVersion): .lookingForVersion
        case .preparing(.opening): .opening
        case .preparing(.forgetting), .exchanging(.forgetting, _): .forgetting
        case .exchanging(.requesting, _): .requesting
        case .exchanging(.lookingAgain, _): .lookingAgain
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
