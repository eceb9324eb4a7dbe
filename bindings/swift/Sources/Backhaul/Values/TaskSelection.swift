internal import CBackhaul

/// A selection of tasks. A task is selected if it matches all three properties.
public struct TaskSelection: Hashable, Sendable {
    /// The ids of the tasks. An empty list matches all ids.
    public var ids: [TaskID]
    /// The states of the tasks. An empty set matches all states.
    public var states: Set<TaskState>
    /// The group of the tasks. Nil matches all tasks, with or without a group.
    public var group: String?

    public init(ids: [TaskID] = [], states: Set<TaskState> = [], group: String? = nil) {
        self.ids = ids
        self.states = states
        self.group = group
    }

    public static let all = TaskSelection()
    /// Selects tasks by their ids. At least one id is necessary, because an empty list would select all tasks.
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
