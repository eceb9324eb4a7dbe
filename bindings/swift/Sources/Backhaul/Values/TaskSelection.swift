internal import CBackhaul

/// Which tasks: those that match all members.
public struct TaskSelection: Hashable, Sendable {
    /// Empty: all.
    public var ids: [TaskID]
    /// Empty: any.
    public var states: Set<TaskState>
    /// Nil: any.
    public var group: String?

    public init(ids: [TaskID] = [], states: Set<TaskState> = [], group: String? = nil) {
        self.ids = ids
        self.states = states
        self.group = group
    }

    public static let all = TaskSelection()
    /// An empty list would select all tasks, so it takes at least one number.
    public static func ids(_ first: TaskID, _ others: TaskID...) -> TaskSelection {
        TaskSelection(ids: [first] + others)
    }
    public static func states(_ states: Set<TaskState>) -> TaskSelection { TaskSelection(states: states) }
    public static func group(_ group: String) -> TaskSelection { TaskSelection(group: group) }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_task_selection {
        var value = bh_task_selection()
        value.struct_size = MemoryLayout<bh_task_selection>.size
        value.ids = arena.array(ids)
        value.id_count = ids.count
        value.group = try arena.optionalString(group, "the group")
        value.states = states.reduce(0) { $0 | 1 << UInt32($1.rawValue) }
        return value
    }
}
