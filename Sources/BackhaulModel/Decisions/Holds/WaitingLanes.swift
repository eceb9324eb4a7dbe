/// The lanes in which tasks wait in the store, and the lanes that are being loaded.
public struct WaitingLanes: Sendable {
    private struct Entry: Sendable {
        let lane: Lane
        /// The constraints of tasks that wait in the store and are not loaded.
        var waiting: Set<ConstraintsID> = []
        /// While the lane is being loaded: the constraints whose tasks the load leaves out.
        var leftOut: Set<ConstraintsID>?

        func mayWait(_ group: ConstraintGroup) -> Bool {
            lane.session == group.session && lane.networkScope == group.networkScope
                && (waiting.contains(group.constraints) || leftOut?.contains(group.constraints) == true)
        }
    }

    private var entries: [LaneID: Entry] = [:]

    public init() {}

    public var ids: Set<LaneID> { Set(entries.keys) }
    public var origins: Set<Origin> { Set(entries.values.lazy.filter { !$0.waiting.isEmpty }.map(\.lane.origin)) }
    public var isLoading: Bool { entries.values.contains { $0.leftOut != nil } }

    public func contains(_ key: LaneGroup) -> Bool { entries[key.lane]?.waiting.contains(key.constraints) == true }

    /// The groups of tasks that wait in the store.
    public var groups: Set<ConstraintGroup> {
        var groups: Set<ConstraintGroup> = []
        for entry in entries.values { for id in entry.waiting { groups.insert(ConstraintGroup(id, in: entry.lane)) } }
        return groups
    }

    /// The lanes in which tasks of the group wait, or may wait.
    public func lanes(of group: ConstraintGroup) -> [Lane] {
        entries.values.lazy.filter { $0.mayWait(group) }.map(\.lane).sorted { $0.id.rawValue < $1.id.rawValue }
    }

    public func mayWait(_ group: ConstraintGroup) -> Bool { entries.values.contains { $0.mayWait(group) } }

    public mutating func insert(_ constraints: ConstraintsID, in lane: Lane) {
        entries[lane.id, default: Entry(lane: lane)].waiting.insert(constraints)
    }

    public mutating func set(_ constraints: Set<ConstraintsID>, in lane: Lane) {
        entries[lane.id, default: Entry(lane: lane)].waiting = constraints
        removeIfUnused(lane.id)
    }

    public mutating func beginLoad(of lane: Lane, leavingOut constraints: Set<ConstraintsID>) {
        entries[lane.id, default: Entry(lane: lane)].leftOut = constraints
    }

    public mutating func endLoad(of lane: LaneID) {
        entries[lane]?.leftOut = nil
        removeIfUnused(lane)
    }

    public mutating func forget(_ session: SessionID) {
        for (id, entry) in entries where entry.lane.session == session {
            entries[id]?.waiting = []
            removeIfUnused(id)
        }
    }

    private mutating func removeIfUnused(_ lane: LaneID) {
        if let entry = entries[lane], entry.waiting.isEmpty, entry.leftOut == nil { entries[lane] = nil }
    }
}
