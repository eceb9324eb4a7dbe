public import BackhaulModel

/// The challenge that a task waits for, and what changed.
public struct ParkedTask: Equatable, Sendable {
    public var challenge: ChallengeID
    /// Whether the challenge was opened for this task, with an event.
    public var isNew: Bool
    /// The `lanes` have tasks that wait again because the server rejected a credential.
    public var change: Change
    /// When the next delayed task is due, in milliseconds of the boot clock.
    public var nextDue: Int64?
}

/// What became of a task that was to wait for a challenge.
public enum Parking: Equatable, Sendable {
    case parked(ParkedTask)
    /// The task is suspended or has ended; no challenge was opened, and the attempt is recorded.
    case notWaiting
    /// The challenge that the caller knew is no longer open. Nothing was written: the host's response to it may serve
    /// this task too.
    case superseded(ChallengeID)

    public var parked: ParkedTask? { if case .parked(let parked) = self { parked } else { nil } }
}
