public import BackhaulModel

/// The challenge for which a task was parked, and what the parking changed.
public struct ParkedTask: Equatable, Sendable {
    public var challenge: ChallengeID
    /// Whether the challenge was opened for this task, and the challenge's event was inserted.
    public var isNew: Bool
    /// What the parking changed in the session. If the server has rejected the response to an earlier challenge, or if
    /// this response has expired, the tasks that continued after the response wait again. Then `change.lanes` has the
    /// lanes of these tasks.
    public var change: Change
    /// When the next delayed task is due, in milliseconds of the boot clock.
    public var nextDue: Int64?
}

/// The result of parking a task for a challenge.
public enum Parking: Equatable, Sendable {
    case parked(ParkedTask)
    /// The task is suspended or has ended. No challenge was opened, but the attempt is recorded.
    case notWaiting
    /// The challenge that the caller has passed is no longer open. Nothing was written, because the host's response to
    /// that challenge may work for this task, too.
    case superseded(ChallengeID)

    public var parked: ParkedTask? { if case .parked(let parked) = self { parked } else { nil } }
}
