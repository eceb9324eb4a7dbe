internal import BackhaulModel

/// The row number of a group in its store. The number is never reused. A group is tasks with one common event, which
/// reports that all of them have ended.
struct GroupID: Hashable, Comparable {
    var rawValue: Int64
    init(_ rawValue: Int64) { self.rawValue = rawValue }

    static func < (left: GroupID, right: GroupID) -> Bool { left.rawValue < right.rawValue }
}

/// How many tasks of one group ended in the same state.
struct GroupEnds {
    let group: GroupID
    let state: TaskState
    let count: Int64

    init(_ group: GroupID, _ state: TaskState, count: Int64 = 1) {
        self.group = group
        self.state = state
        self.count = count
    }
}
