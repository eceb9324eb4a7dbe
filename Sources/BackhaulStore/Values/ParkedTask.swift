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
