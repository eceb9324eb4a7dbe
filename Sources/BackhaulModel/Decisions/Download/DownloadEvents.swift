extension DownloadMachine {
    // The events and actions of the state machine for one attempt, which is one run of a download. A runner performs
    // the actions, and passes the results to the state machine as events. The bytes are written to a part file. When
    // all bytes have come, the part file is sealed (completely written and synced), and then placed: it gets its final
    // name, at its destination. A *representation* is the content of the server's file at one time.

    /// Where the state machine finds the challenge of a response.
    public enum ChallengeSource: Equatable, Sendable {
        /// The head of the response has the challenge.
        case head
        /// The response has no challenge for which the task must wait.
        case nothing
        /// The engine has read the challenge already.
        case authChallenge(AuthenticationChallenge)
    }

    /// How this attempt ends for the task.
    public enum Conclusion: Equatable, Sendable {
        case succeeded
        case failed(Failure)
        /// The task gets another attempt. `retryAfterSeconds`: the minimum delay before that attempt; nil if the server
        /// demanded no delay. `fromZero`: whether all received bytes are removed.
        case retry(Failure, reason: WaitReason, retryAfterSeconds: Int64?, fromZero: Bool)
        /// A server or proxy demands a credential. The bytes of earlier attempts are kept.
        case credential(AuthenticationChallenge)
        /// The task's row in the store already has the new state (suspended or cancelled), or the engine stops.
        case stopped
    }

    /// The result of an action, or a command from outside. The state machine ignores an event that does not belong to
    /// its present state. Such an event is late or repeated.
    public enum Event: Equatable, Sendable {
        case start
        case sealedFileChecked(isThere: Bool)
        case spaceChecked
        /// Nil if there is no file at the destination, or if the file has another size than expected.
        case destinationFileChecked(DestinationFile?)
        /// Nil if no representation is known, or if the file at the destination has been changed since the engine
        /// placed it there.
        case knownRepresentationFound(KnownRepresentation?)
        case destinationFileRechecked(isSame: Bool)
        /// `length`: the length of the part file. If it is 0, there are no bytes with which to continue.
        case opened(length: UInt64)
        case head(ResponseHead)
        case forgotten
        /// The name that was reserved for the file.
        case nameReserved(String)
        /// Bytes of the body that were put into the buffer.
        case received(count: Int)
        /// The buffer had at least `BufferLimits.aged` bytes, and its first byte came about
        /// `BufferLimits.agedMilliseconds` ago. These bytes may have been written since.
        case aged
        case transferComplete
        case transferFailed(Failure, isTransient: Bool)
        /// `length`: the length of the part file now.
        case appended(length: UInt64, PartFingerprint? = nil)
        case synced(length: UInt64, checksum: UInt32? = nil)
        /// The checkpoint (what the store records about the part file) was recorded. The event is also sent if the
        /// store could not record the checkpoint. In this case, a crash loses more bytes.
        case checkpointRecorded
        case sealed(FinishIntent, Checksum? = nil)
        case intentRecorded
        /// The host has cancelled the task, so the store has not recorded the finish intent. By this intent, the engine
        /// would recognise the sealed file after a crash.
        case intentRefused
        case placed
        case discarded
        /// An operation on the part file failed. Or the store failed to perform an operation that concerns the part
        /// file.
        case diskFailed(Failure)
        case concluded
        /// The event is sent in place of `concluded` if the conclusion was `retry` or `credential`, but there is no
        /// further attempt. The task then fails.
        case retryRefused
        /// The host cancelled the task. The store has already recorded this.
        case cancel
        /// The task was suspended, or the engine stops. The bytes are kept.
        case stop
        /// The task has reached its deadline.
        case expire(Failure)
        /// The event is sent once a second.
        case tick
    }

    /// What the runner must do. The runner performs the actions in the order in which they are returned. Operations on
    /// the part file always run one after the other. After a failed write or sync, all operations on the part file fail
    /// until the part file is opened or restarted, so that no later bytes are written at a wrong offset.
    public enum Action: Equatable, Sendable {
        /// Checks whether the sealed file, which is complete and synced, exists: as part file or under its final name.
        /// Results in `sealedFileChecked`.
        case checkSealedFile(FinishIntent)
        /// Checks whether the file system has space for `missing` bytes. If the server stated the size, it also checks
        /// whether the file system permits a file of `size` bytes. If `replacesPart` is true, an old part file is
        /// removed if the space is too small. Results in `spaceChecked` or `diskFailed`. While a transfer runs,
        /// `spaceChecked` changes nothing.
        case checkSpace(missing: UInt64, size: UInt64?, replacesPart: Bool)
        /// Searches for a file at the destination, and computes its digest if the file has the wanted size. Results in
        /// `destinationFileChecked`.
        case checkDestinationFile(size: UInt64?, Checksum.Algorithm?)
        /// Searches for the representation that an earlier task placed at the destination. Results in
        /// `knownRepresentationFound`.
        case findKnownRepresentation
        /// Checks whether the file at the destination is unchanged since the representation was placed there. Results
        /// in `destinationFileRechecked`.
        case recheckDestinationFile(KnownRepresentation)
        /// Reserves this name, which the server has chosen, in the destination's directory. If another task has
        /// reserved the name, or if a file has it and must not be replaced, reserves the name with a number. Results in
        /// `nameReserved` or `diskFailed`.
        case reserveName(String)
        /// Computes the digest of the part file from its first byte, including the bytes of earlier attempts. No event
        /// follows.
        case hash(Checksum.Algorithm)
        /// Continues the existing part file. If the machine has restarted since the bytes after `syncedOffset` were
        /// written, these bytes are not trusted, and the file is truncated to `syncedOffset`. Results in `opened`.
        case openPart(isSameBoot: Bool, syncedOffset: UInt64)
        /// Sends the request. Results in `head` and `received`, and at the end in one `transferComplete` or
        /// `transferFailed`.
        case startTransfer(offset: UInt64, ifRange: String?, condition: KnownRepresentation? = nil)
        /// Stops the transfer. No further event of the transfer follows.
        case stopTransfer
        /// Resumes the paused transfer, because the state machine takes bytes again.
        case resumeTransfer
        /// Releases the slot, because the connection is free for another task. An attempt returns this action only one
        /// time.
        case releaseSlot
        /// Removes the checkpoint and the intent from the store. Results in `forgotten`.
        case forgetCheckpoint
        /// Restarts the part file: the next byte becomes its first byte.
        case restartPart
        /// Writes the buffer to the part file. Results in `appended`.
        case flush
        /// Syncs the part file. Results in `synced`.
        case sync
        /// Stores the checkpoint. Results in `checkpointRecorded`.
        case recordCheckpoint(Checkpoint)
        /// Writes the rest of the buffer, and syncs the complete file. Results in `sealed`.
        case seal(size: UInt64)
        /// Stores the finish intent, by which the engine recognises the sealed file after a crash. Results in
        /// `intentRecorded` or `intentRefused`.
        case recordIntent(FinishIntent)
        /// Gives the file its final name. Results in `placed`.
        case place(FinishIntent)
        /// Removes the part file, if there is one. Results in `discarded`.
        case discardPart
        /// Commits the end of the attempt to the store, with the latest checkpoint. The checkpoint is nil if no later
        /// attempt can continue with the bytes. If the task continues, an intent that the store has recorded stays, and
        /// the next attempt begins with this intent. Results in `concluded`, or in `retryRefused` if nothing was
        /// committed.
        case conclude(Conclusion, Checkpoint?)
        /// Closes the part file. It is the last action of an attempt.
        case closePart
    }

    /// Limits for buffered bytes, checkpoints, syncs, and the bodies of responses that are not accepted.
    public struct BufferLimits: Sendable {
        public var flush: UInt64 = 256 << 10
        /// If the process is killed, usually at most this many received bytes are lost. A buffer with at least this
        /// many bytes is written when its oldest bytes are `agedMilliseconds` old. If more bytes came in these
        /// milliseconds, the kill may lose all of them. Written bytes survive the kill, because the kernel has them.
        public var aged: UInt64 = 32 << 10
        public static let agedMilliseconds: Int64 = 10
        /// The maximum number of bytes that may wait to be written. For a paused transfer, the transport buffers 256
        /// KiB in addition. The sum is less than the 1 MiB that may be lost if the process is killed.
        public var outstanding: UInt64 = 704 << 10
        /// The length of the part file at which its first checkpoint is recorded. After this checkpoint, a kill of the
        /// process loses no byte that was written to the part file. For a file of at most `firstSync` bytes, the
        /// checkpoint is recorded only after the event `aged`.
        public var firstCheckpoint: UInt64 = 32 << 10
        /// The maximum number of bytes that are received before the first checkpoint is recorded. If the process is
        /// killed before the checkpoint is recorded, all of these bytes are lost. After the event `aged`, the limit is
        /// `slowUnrecorded`.
        public var unrecorded: UInt64 = 704 << 10
        /// It is at least `firstCheckpoint`, because a shorter part file gets no checkpoint, and the transfer would
        /// stay paused.
        var slowUnrecorded: UInt64 { max(firstCheckpoint, min(aged, unrecorded)) }
        public var firstSync: UInt64 = 1 << 20
        /// The number of bytes between two syncs. It limits how many bytes a power failure can destroy.
        public var laterSync: UInt64 = 32 << 20
        public var syncTicks = 10
        /// If at least this many bytes are missing, the free space is checked before the first of them is written.
        public var spaceCheck: UInt64 = 1 << 20
        /// The maximum number of bytes that are read from the body of a refused response.
        public var errorBody = UInt64(Limits.errorBodySize)
        /// The maximum number of ticks (seconds) for which the body of a refused response is read. A slow body occupies
        /// a connection that other tasks need.
        public var errorTicks = 5
        public init() {}
    }
}
