extension DownloadMachine {
    /// Where the challenge of a response is found.
    public enum ChallengeSource: Equatable, Sendable {
        /// In its head.
        case head
        /// There is none that its task waits for.
        case nothing
        /// The engine has read it already.
        case demand(AuthenticationDemand)
    }

    /// How this attempt leaves the task.
    public enum Conclusion: Equatable, Sendable {
        case succeeded
        case failed(Failure)
        /// After `retryAfterSeconds` at least, if the server asked for it. `fromZero`: nothing is kept.
        case retry(Failure, reason: WaitReason, retryAfterSeconds: Int64?, fromZero: Bool)
        /// A server or proxy asks for a credential. What an earlier attempt has left is kept.
        case credential(AuthenticationDemand)
        /// The row says already what the task is (suspended, cancelled), or the engine stops.
        case left
    }

    /// The result of an action, or what others want. An event that does not belong to the present state (late,
    /// repeated) changes nothing.
    public enum Event: Equatable, Sendable {
        case start
        case lookedForSealed(isThere: Bool)
        case spaceChecked
        /// Nil: there is none, or none of that size.
        case lookedForFile(FoundFile?)
        /// Nil: none is known, or the file is not as it was left.
        case lookedForVersion(FileVersion?)
        case lookedAgain(isSame: Bool)
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
        /// The file is this long now.
        case appended(length: UInt64, PartStamp? = nil)
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
        /// In place of `concluded` after a `retry` or `credential`: there is no further attempt, so the task fails.
        case retryRefused
        /// The host cancelled the task: its row has ended.
        case cancel
        /// The task was suspended, or the engine stops: keep what is there.
        case leave
        /// The task's time is over.
        case expire(Failure)
        /// Once a second.
        case tick
    }

    /// What is to be done, in the order given. Operations on the part file are done one after the other, whatever else
    /// goes on. When one that writes or syncs has failed, those behind it fail, too, until the part is opened or
    /// restarted: bytes must not move up into a gap.
    public enum Action: Equatable, Sendable {
        /// Results in `lookedForSealed`.
        case lookForSealed(FinishIntent)
        /// Whether the file system has room for `missing` bytes, and can hold a file of `size` at all, when the server
        /// announced it. Results in `spaceChecked` or `diskFailed`; while a transfer runs, the first of these changes
        /// nothing.
        case checkSpace(missing: UInt64, size: UInt64?)
        /// Look for a file at the destination and compute its digest, when it has the size. Results in
        /// `lookedForFile`.
        case lookForFile(size: UInt64?, Checksum.Algorithm?)
        /// Results in `lookedForVersion`.
        case lookForVersion
        /// Whether the file is still as that version was left. Results in `lookedAgain`.
        case lookAgain(FileVersion)
        /// Whether the name that the server gives is free. Results in `diskFailed` or in nothing.
        case checkName(String)
        /// Compute the digest of the part file, from its first byte on, also of what is there already. Has no result.
        case hash(Checksum.Algorithm)
        /// Go on with the part file that is there. Bytes behind `syncedOffset` are trusted in the boot that wrote them
        /// only; in another one the file is cut there. Results in `opened`.
        case openPart(isSameBoot: Bool, syncedOffset: UInt64)
        /// Results in `head`, `received` and one `transferComplete` or `transferFailed`.
        case startTransfer(offset: UInt64, ifRange: String?, condition: FileVersion? = nil)
        /// No event of the transfer follows.
        case stopTransfer
        /// Bytes are wanted again.
        case resumeTransfer
        /// The connection is free for another task. Given once.
        case releaseSlot
        /// Make durable that nothing is there: no checkpoint and no intent. Results in `forgotten`.
        case forgetCheckpoint
        /// What is in the part file counts for nothing: the next byte is its first.
        case restartPart
        /// Hand the buffer to the disk. Results in `appended`.
        case flush
        /// Results in `synced`.
        case sync
        /// Results in `checkpointRecorded`.
        case recordCheckpoint(Checkpoint)
        /// Hand the rest of the buffer to the disk and make the file whole. Results in `sealed`.
        case seal(size: UInt64)
        /// Results in `intentRecorded` or `intentRefused`.
        case recordIntent(FinishIntent)
        /// Results in `placed`.
        case place(FinishIntent)
        /// There may be none. Results in `discarded`.
        case discardPart
        /// Commit how the attempt ended, with what is durable now. A recorded intent stays unless the task ends: the
        /// next attempt begins with it. Results in `concluded` or, with nothing committed, by `retryRefused`.
        case conclude(Conclusion, Checkpoint?)
        /// The last action.
        case closePart
    }

    /// How much is gathered in memory before the disk gets it, and how much may be on its way there.
    public struct BufferLimits: Sendable {
        public var flush: UInt64 = 256 << 10
        /// What a kill may cost, whichever is more: so many bytes that were received, or what was received in so many
        /// milliseconds. They are less than the kernel's buffers hold, so that writing them costs little.
        public var aged: UInt64 = 32 << 10
        public static let agedMilliseconds: Int64 = 10
        /// With what the transport holds of a paused transfer, 256 KiB, less than the 1 MiB that a kill may cost.
        public var outstanding: UInt64 = 704 << 10
        /// So many bytes are in the file when its validators are made durable: with them, all that is written outlives
        /// a kill. A file of less than `firstSync` is worth it only when it takes longer than `agedMilliseconds`.
        public var firstCheckpoint: UInt64 = 32 << 10
        /// So many are taken before that is done, or `aged` when they come slower: a kill would take them all.
        public var unrecorded: UInt64 = 704 << 10
        var slowUnrecorded: UInt64 { min(aged, unrecorded) }
        public var firstSync: UInt64 = 1 << 20
        /// Bounds what a power loss can take.
        public var laterSync: UInt64 = 32 << 20
        public var syncTicks = 10
        /// So many bytes are worth a look at the free space before the first of them is written.
        public var spaceCheck: UInt64 = 1 << 20
        /// Read of the body of a response that is not accepted.
        public var errorBody = UInt64(Limits.errorBodySize)
        /// For so many ticks at the most: a body that drips holds a connection that other tasks wait for.
        public var errorTicks = 5
        public init() {}
    }
}
