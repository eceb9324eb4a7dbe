internal import BackhaulModel

/// The values that all requests of one enqueue share, and what was found in those processed so far.
struct EnqueueTerms {
    let session: SessionID
    let round: UInt64
    /// The present time as in `StartClock.calendar`.
    let now: Int64
    let clock: ClockReading
    let isLaunched: Bool
    /// The ids of the constraints that earlier requests of this enqueue have.
    var known: [TaskConstraints: ConstraintsID] = [:]
    var hasDelayed = false
    var hasLatestStart = false
}
