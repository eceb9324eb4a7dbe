internal import BackhaulModel

/// What all requests of one enqueue share, and what their processing has found so far.
struct EnqueueTerms {
    let session: SessionID
    let round: UInt64
    /// As `StartClock.calendar`.
    let now: Int64
    let clock: ClockReading
    let isLaunched: Bool
    /// Ids of the constraints that earlier requests of this enqueue stated.
    var known: [TaskConstraints: ConstraintsID] = [:]
    var hasDelayed = false
    var hasLatestStart = false
}
