import CBackhaul

/// A selection of tasks by their ids, their states and the name of their group. A group is a named set of tasks: one
/// event reports that all of them have ended. A task is selected if its id, its state and its group match. An empty
/// list matches every id or every state. Nil matches every group.
struct TaskSelection {
    var ids: [UInt64] = []
    var states: [Int] = []
    var group: String?

    static let live = [BH_TASK_WAITING, BH_TASK_RUNNING, BH_TASK_SUSPENDED]

    func selection(_ arena: CStringArena) -> bh_task_selection {
        bh_task_selection(
            struct_size: MemoryLayout<bh_task_selection>.size, ids: arena.array(ids), id_count: ids.count,
            group: arena.optionalString(group), states: states.reduce(0) { $0 | 1 << UInt32($1) }, reserved: 0)
    }
}
