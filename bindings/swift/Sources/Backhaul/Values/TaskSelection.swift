internal import CBackhaul

/// A selection of tasks. A task is selected if it matches all three properties.
public struct TaskSelection: Hashable, Sendable {
    /// The ids of the tasks. Nil matches all ids. An empty list matches no task.
    public var ids: [TaskID]?
    /// The states of the tasks. Nil matches all states. An empty set matches no task.
    public var states: Set<TaskState>?
    /// The group of the tasks. Nil matches all tasks, with or without a group.
    public var group: String?

    /// Makes a selection. Without arguments, it selects all tasks.
    public init(ids: [TaskID]? = nil, states: Set<TaskState>? = nil, group: String? = nil) {
        self.ids = ids
        self.states = states
        self.group = group
    }

    /// Selects all tasks of the session.
    public static let all = TaskSelection()
    /// Selects the tasks with these ids.
    public static func ids(_ ids: TaskID...) -> TaskSelection { TaskSelection(ids: ids) }
    /// Selects the tasks with these ids. An empty list selects no task.
    public static func ids(_ ids: [TaskID]) -> TaskSelection { TaskSelection(ids: ids) }
    /// Selects the tasks that are in one of these states. An empty set selects no task.
    public static func states(_ states: Set<TaskState>) -> TaskSelection { TaskSelection(states: states) }
    /// Selects the tasks of this group.
    public static func group(_ group: String) -> TaskSelection { TaskSelection(group: group) }

    /// Whether a list or set is empty. In C, an empty one selects all tasks, so such a selection is not passed to C.
    var selectsNothing: Bool { ids?.isEmpty == true || states?.isEmpty == true }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_task_selection {
        var value = bh_task_selection()
        value.struct_size = MemoryLayout<bh_task_selection>.size
        value.ids = arena.array((ids ?? []).map(\.rawValue))
        value.id_count = ids?.count ?? 0
        value.group = try arena.optionalString(group, "the group")
        value.states = (states ?? []).reduce(0) { $0 | 1 << UInt32($1.rawValue) }
        return value
    }
}
