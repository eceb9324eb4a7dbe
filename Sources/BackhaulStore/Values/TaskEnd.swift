public import BackhaulModel

/// The values that are written when a task ends.
public struct TaskEnd: Sendable {
    public let task: TaskID
    public let outcome: Outcome
    /// The last attempt. Nil if the database already has this attempt, because the attempt was recorded together with
    /// the task's finish intent. The finish intent is the identity of the finished file. It is recorded before the file
    /// gets its final name.
    public let attempt: Attempt?

    public init(_ task: TaskID, _ outcome: Outcome, attempt: Attempt? = nil) {
        self.task = task
        self.outcome = outcome
        self.attempt = attempt
    }
}
