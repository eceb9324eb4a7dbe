public import BackhaulModel

/// What a task that was asked for a credential waits for now.
public struct ParkedTask: Equatable, Sendable {
    public var challenge: ChallengeID
    /// Opened for this task, with an event.
    public var isNew: Bool
    /// Its `lanes` have tasks that wait again because the answer did not serve.
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
    case superseded

    public var parked: ParkedTask? { if case .parked(let parked) = self { parked } else { nil } }
}
