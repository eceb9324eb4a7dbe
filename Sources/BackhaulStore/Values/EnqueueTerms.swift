internal import BackhaulModel

/// What all requests of one enqueue have in common, and what was found out on the way.
struct EnqueueTerms {
    let session: SessionID
    let round: UInt64
    /// By the calendar of the rows' ages.
    let now: Int64
    let clock: ClockReading
    let isLaunched: Bool
    /// As few as there are, they are looked up once.
    var known: [TaskConstraints: ConstraintsID] = [:]
    var hasDelayed = false
    var hasLatestStart = false
}
