/// Chooses the running task that is preempted (stopped, so that an urgent task can run).
public enum PreemptionPolicy {
    public struct Candidate: Equatable, Sendable {
        public var task: TaskID
        public var priority: Int32
        /// The bytes that the task would transfer a second time after a preemption, because it cannot continue its
        /// transfer.
        public var bytesLost: UInt64
        /// The order in which the tasks were started; a higher number means a later start.
        public var start: UInt64

        public init(task: TaskID, priority: Int32, bytesLost: UInt64, start: UInt64) {
            self.task = task
            self.priority = priority
            self.bytesLost = bytesLost
            self.start = start
        }
    }

    /// Returns the task with the lowest priority; nil if all tasks are urgent. Of several tasks with that priority,
    /// returns the task that loses the fewest bytes. If several tasks lose equally few bytes, returns the task that was
    /// started last.
    public static func among(_ candidates: some Sequence<Candidate>) -> TaskID? {
        candidates.filter { $0.priority < Limits.priorityNow }
            .min { ($0.priority, $0.bytesLost, $1.start) < ($1.priority, $1.bytesLost, $0.start) }?.task
    }
}
