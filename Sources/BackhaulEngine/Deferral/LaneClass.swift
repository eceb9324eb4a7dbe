internal import BackhaulModel
internal import BackhaulStore

/// Tasks of one lane that have stated the same: what is measured together.
struct LaneClass: Hashable, Sendable {
    var lane: LaneID
    var constraints: ConstraintsID
}

/// What a task that was started although its like are held back is to find out.
enum ProbeKind: Equatable {
    /// Whether enough comes, for these, whatever it states meanwhile. Bytes and milliseconds in which it waited for the
    /// network alone.
    case throughput(of: LaneClass, bytes: UInt64, milliseconds: Int64)
    /// Whether the uplink leads anywhere.
    case uplink
}
