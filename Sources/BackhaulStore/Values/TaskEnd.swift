public import BackhaulModel

/// The values that are written when a task ends.
public struct TaskEnd: Sendable {
    public let task: TaskID
    public let outcome: Outcome
    /// The last attempt (run of the task); nil if it was recorded before the file of the task got its final name (with
    /// the finish intent).
    public let attempt: Attempt?

    public init(_ task: TaskID, _ outcome: Outcome, attempt: Attempt? = nil) {
        self.task = task
        self.outcome = outcome
        self.attempt = attempt
    }
}
