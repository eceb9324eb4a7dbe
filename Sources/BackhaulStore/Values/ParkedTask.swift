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
