internal import BackhaulModel
internal import BackhaulStore

/// What should happen in other parts because of a running attempt.
enum AttemptEffect {
    // MARK: The slot and the disk

    case releasedSlot
    /// The disk still has to finish the task's file. The next task may start, unless the disk has too much other work.
    case releaseSlotEarly
    /// The disk has finished the file of a task that released its slot early.
    case finishedWithoutSlot(device: UInt64)
    /// The attempt can use one more connection.
    case requestedConnection
    /// The attempt gets the connection that it has requested.
    case gotConnection
    /// The attempt has ended its use of one of its further connections.
    case releasedConnection
    /// The server has responded or the attempt is over, so the lane may start other tasks.
    case endedRunningAlone
    /// Whether the task's origin uses HTTP/2. If so, the lane may run more tasks over one connection.
    case multiplexing(Bool)
    /// These bytes wait in memory for a disk.
    case willWrite(Int, device: UInt64)
    case wrote(Int, device: UInt64)
    /// The file system was full. `missing`: how many bytes of the file are missing; nil if its size is unknown.
    case fileSystemIsFull(missing: UInt64?)
    case fileSystemHasSpace

    // MARK: The response

    /// The head of a response has arrived. `isFromServer`: false if a portal may have sent it.
    case responded(isFromServer: Bool)
    case notChallenged
    indirect case challenged(AuthenticationChallenge)
    /// The store has handled a challenge. `opened`: the challenge that was opened; nil if none was opened.
    indirect case challengeHandled(ProtectionSpace, opened: ChallengeID?)
    case challengeClosed(ChallengeID)
    case credentialsAccepted([UInt64])
    case urlAccepted

    // MARK: The end

    /// Whether the attempt has shown that the uplink works, or that it may not work.
    indirect case uplinkJudged(UplinkWatch.Ending)
    /// The attempt failed. Its runner needs facts of other parts to decide what follows.
    indirect case decideRetry(FailedAttempt, Checkpoint?)
    /// The task may have to wait for this challenge. Its runner needs the credentials' decision.
    indirect case decideParking(AuthenticationChallenge, Checkpoint?)
    /// How many attempts of the task have ended in the same way, in a row.
    case repeats(RepeatCounts)
    /// The task waits for a route to its server.
    indirect case waitForRoute(AttemptRecord)
    /// The task waits for the file system or the directory of this path.
    case waitForStorage(String)
    /// The part file of the task became a leftover: its file system is away, or a later task may continue it.
    case partLeft
    /// The server is to be asked to remove what it has of the upload.
    case uploadAbandoned
    indirect case writeEnd(Ending)
    /// The store could not write the end, and is to try again now.
    indirect case rewriteEnd(Ending)
    /// The attempt is over, and its descriptors are closed.
    case finished
}
