/// Which tasks of a loaded lane may be ready, and why the others may not.
public struct LoadDecision: Equatable, Sendable {
    /// A task that was loaded from the store.
    public struct Candidate: Sendable {
        public var id: TaskID
        public var constraints: ConstraintsID
        /// The bytes that the task is expected to move (`DeferralDecision.stated`).
        public var statedBytes: UInt64?

        public init(id: TaskID, constraints: ConstraintsID = .session, statedBytes: UInt64? = nil) {
            self.id = id
            self.constraints = constraints
            self.statedBytes = statedBytes
        }
    }

    /// A task that waits because a budget is too small for it.
    public struct TooLarge: Equatable, Sendable {
        public var task: TaskID
        public var hold: Hold
    }

    public private(set) var ready: Set<TaskID> = []
    public private(set) var tooLarge: [TooLarge] = []
    /// Whether the lane has to be loaded again, because some of the loaded tasks wait, and more tasks wait in the lane
    /// after them.
    public private(set) var loadsAgain: Bool

    /// - held: the constraints whose tasks are held.
    /// - budgets: the budgets that limit the tasks of the lane.
    /// - active: the tasks that run or are ready already. They may have become active during the load.
    /// - isAll: whether the load has found all waiting tasks of the lane.
    /// - hasDelayed: whether the load has left out tasks that must not start before a later time.
    public init(
        _ loaded: [Candidate], held: Set<ConstraintsID> = [], budgets: [BudgetUsage] = [], active: Set<TaskID> = [],
        isAll: Bool = true, hasDelayed: Bool = false
    ) {
        var hasHeld = false
        for task in loaded {
            if held.contains(task.constraints) {
                hasHeld = true
            } else if active.contains(task.id) {
                continue
            } else if let hold = DeferralDecision.fits(task.statedBytes, budgets) {
                tooLarge.append(TooLarge(task: task.id, hold: hold))
            } else {
                ready.insert(task.id)
            }
        }
        loadsAgain = !isAll && (hasHeld || hasDelayed)
    }
}
