public import BackhaulModel

/// The end of a task.
public struct TaskEnd: Sendable {
    public let task: TaskID
    public let outcome: Outcome
    /// The last attempt, unless it was recorded with the finish intent.
    public let attempt: Attempt?

    public init(_ task: TaskID, _ outcome: Outcome, attempt: Attempt? = nil) {
        self.task = task
        self.outcome = outcome
        self.attempt = attempt
    }
}
