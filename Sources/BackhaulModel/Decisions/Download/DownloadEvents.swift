extension DownloadMachine {
    /// The source of a response's challenge.
    public enum ChallengeSource: Equatable, Sendable {
        /// The response's head.
        case head
        /// The response has no challenge for which the task waits.
        case nothing
        /// The engine has read the challenge already.
        case authChallenge(AuthenticationChallenge)
    }

    /// How this attempt ends for the task.
    public enum Conclusion: Equatable, Sendable {
        case succeeded
        case failed(Failure)
        /// The task is tried again, after `retryAfterSeconds` at least, if the server demanded it. `fromZero`: no byte
        /// is kept.
        case retry(Failure, reason: WaitReason, retryAfterSeconds: Int64?, fromZero: Bool)
        /// A server or proxy demands a credential. The bytes of earlier attempts are kept.
        case credential(AuthenticationChallenge)
        /// The row has the task's state already (suspended, cancelled), or the engine stops.
        case stopped
    }

    /// The result of an action, or a command from outside. An event that does not belong to the present state (late,
    /// repeated) changes nothing.
    public enum Event: Equatable, Sendable {
        case start
        case sealedFileChecked(isThere: Bool)
        case spaceChecked
        /// Nil: there is no file, or none of that size.
        case destinationFileChecked(DestinationFile?)
        /// Nil: no representation is known, or the file was changed since.
        case knownRepresentationFound(KnownRepresentation?)
        case destinationFileRechecked(isSame: Bool)
        /// 0: there is nothing to continue.
        case opened(length: UInt64)
        case head(ResponseHead)
        case forgotten
        /// Bytes of the body that were put into the buffer.
        case received(count: Int)
        /// The buffer has bytes that came `BufferLimits.agedMilliseconds` ago.
        case aged
        case transferComplete
        case transferFailed(Failure, isTransient: Bool)
        /// `length`: of the file now.
        case appended(length: UInt64, PartFingerprint? = nil)
        case synced(length: UInt64, checksum: UInt32? = nil)
        /// Sent on failure, too; a crash then loses more.
        case checkpointRecorded
        case sealed(FinishIntent, Checksum? = nil)
        case intentRecorded
        /// The host cancelled the task before its intent was recorded.
        case intentRefused
        case placed
        case discarded
        /// An operation on the part file failed, or one of the store for it.
        case diskFailed(Failure)
        case concluded
        /// Sent in place of `concluded` after a `retry` or `credential`: there is no further attempt, so the task
        /// fails.
        case retryRefused
        /// The host cancelled the task: its row has ended.
        case cancel
        /// The task was suspended, or the engine stops: keep the bytes.
        case stop
        /// The task's time is over.
        case expire(Failure)
        /// Sent once a second.
        case tick
    }

    /// What the runner must do, in this order. Operations on the part file run one after the other, whatever else
    /// happens. When a write or sync fails, the operations after it fail, too, until the part file is opened or
    /// restarted. Otherwise later bytes would be written into the gap.
    public enum Action: Equatable, Sendable {
        /// Results in `sealedFileChecked`.
        case checkSealedFile(FinishIntent)
        /// Checks whether the file system has space for `missing` bytes, and can hold a file of `size` at all, if the
        /// server stated it. Results in `spaceChecked` or `diskFailed`. While a transfer runs, `spaceChecked` changes
        /// nothing.
        case checkSpace(missing: UInt64, size: UInt64?)
        /// Searches for a file at the destination, and computes its digest if it has the size. Results in
        /// `destinationFileChecked`.
        case checkDestinationFile(size: UInt64?, Checksum.Algorithm?)
        /// Results in `knownRepresentationFound`.
        case findKnownRepresentation
        /// Checks whether the file is unchanged since that representation was placed. Results in
        /// `destinationFileRechecked`.
        case recheckDestinationFile(KnownRepresentation)
        /// Checks whether the server's file name is free. Results in `diskFailed` or in no event.
        case checkName(String)
        /// Computes the digest of the part file from its first byte, including earlier attempts' bytes. Has no result.
        case hash(Checksum.Algorithm)
        /// Continues the existing part file. Bytes after `syncedOffset` are trusted only in the boot that wrote them.
        /// In another boot, the file is truncated there. Results in `opened`.
        case openPart(isSameBoot: Bool, syncedOffset: UInt64)
        /// Results in `head`, `received` and one `transferComplete` or `transferFailed`.
        case startTransfer(offset: UInt64, ifRange: String?, condition: KnownRepresentation? = nil)
        /// No event of the transfer follows.
        case stopTransfer
        /// The machine takes bytes again.
        case resumeTransfer
        /// The connection is free for another task. Comes once.
        case releaseSlot
        /// Makes durable that there is no checkpoint and no intent. Results in `forgotten`.
        case forgetCheckpoint
        /// Ignores the part file's present bytes: the next byte is its first.
        case restartPart
        /// Gives the buffer to the disk. Results in `appended`.
        case flush
        /// Results in `synced`.
        case sync
        /// Results in `checkpointRecorded`.
        case recordCheckpoint(Checkpoint)
        /// Gives the rest of the buffer to the disk, and completes the file. Results in `sealed`.
        case seal(size: UInt64)
        /// Results in `intentRecorded` or `intentRefused`.
        case recordIntent(FinishIntent)
        /// Results in `placed`.
        case place(FinishIntent)
        /// Removes the part file, if there is one. Results in `discarded`.
        case discardPart
        /// Commits the end of the attempt, with the durable checkpoint. A recorded intent stays unless the task ends:
        /// the next attempt begins with it. Results in `concluded`, or in `retryRefused` if nothing was committed.
        case conclude(Conclusion, Checkpoint?)
        /// The last action.
        case closePart
    }

    /// How many bytes are gathered in memory before the disk gets them, and how many may be on their way there.
    public struct BufferLimits: Sendable {
        public var flush: UInt64 = 256 << 10
        /// The received bytes that a kill may cost: this many, or those of the last `agedMilliseconds`, whichever is
        /// more. Both are less than the kernel's buffers hold, so that writing them costs little.
        public var aged: UInt64 = 32 << 10
        public static let agedMilliseconds: Int64 = 10
        /// The most bytes that may wait for the disk. With the 256 KiB that the transport buffers for a paused
        /// transfer, this is less than the 1 MiB that a kill may cost.
        public var outstanding: UInt64 = 704 << 10
        /// The bytes in the file at which its validators are recorded. After that, all written bytes survive a kill.
        /// For a file smaller than `firstSync`, this is done only if it takes longer than `agedMilliseconds`.
        public var firstCheckpoint: UInt64 = 32 << 10
        /// The most bytes that are taken before that is done; for slow transfers it is `aged`. A kill would lose them
        /// all.
        public var unrecorded: UInt64 = 704 << 10
        var slowUnrecorded: UInt64 { min(aged, unrecorded) }
        public var firstSync: UInt64 = 1 << 20
        /// The bytes between two syncs. They bound what a power loss can cost.
        public var laterSync: UInt64 = 32 << 20
        public var syncTicks = 10
        /// The missing bytes from which the free space is checked before the first of them is written.
        public var spaceCheck: UInt64 = 1 << 20
        /// The most bytes that are read of the body of a response that is not accepted.
        public var errorBody = UInt64(Limits.errorBodySize)
        /// The most ticks for which it is read: a slow body occupies a connection that other tasks need.
        public var errorTicks = 5
        public init() {}
    }
}
