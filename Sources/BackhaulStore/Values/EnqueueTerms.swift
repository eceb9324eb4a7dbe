internal import BackhaulModel

/// The values that all requests of one enqueue share, and facts about the requests that were processed so far.
struct EnqueueTerms {
    let session: SessionID
    /// The present time on the age calendar, which measures the age of tasks (`StartClock.calendar`).
    let now: Int64
    let clock: ClockReading
    let isLaunched: Bool
    /// The ids of the constraints that earlier requests of this enqueue have.
    var known: [TaskConstraints: ConstraintsID] = [:]
    /// The response from which a request of this enqueue has last taken values.
    var response: TakenResponse?
    var hasDelayed = false
    var hasLatestStart = false
}
