internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host guarantees that its struct can be read until the call returns. The struct, its ids and its group are
// copied here.

/// Reads `bh_task_selection`. NULL means all tasks.
enum SelectionArgument {
    private static let minimumSize = StructArgument.end(of: \bh_task_selection.reserved)

    static func read(_ pointer: UnsafePointer<bh_task_selection>?) throws(Failure) -> TaskSelection {
        guard let pointer else { return TaskSelection() }
        let given = try StructArgument.read(pointer, "selection", into: bh_task_selection(), minimumSize: minimumSize)
        try StructArgument.checkReserved(UInt64(given.reserved), in: "selection")
        let ids = try NumberArgument.array(
            given.ids, "selection.ids", count: given.id_count, "selection.id_count", limit: Limits.idCount)
        let unknown = given.states & ~TaskStates.all.rawValue
        guard unknown == 0 else {
            throw Failure(
                .invalidArgument,
                "selection.states has the bits 0x\(String(unknown, radix: 16)), which are 1 << BH_TASK_… of no state")
        }
        return TaskSelection(
            ids: ids.map(TaskID.init(hostValue:)),
            states: given.states == 0 ? .all : TaskStates(rawValue: given.states),
            group: try TextArgument.optional(given.group, "selection.group", limit: Limits.groupSize))
    }
}
