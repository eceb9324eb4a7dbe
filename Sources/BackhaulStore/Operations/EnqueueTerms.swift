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

/// What a request says about when it may run.
extension Transaction {
    func constraints(of request: Request, _ terms: inout EnqueueTerms) throws(Failure) -> ConstraintsID {
        guard request.hasOptions || terms.isLaunched else { return .session }
        var constraints = TaskConstraints(isLaunched: terms.isLaunched)
        if request.hasOptions {
            constraints.stated = request.options.policy.constraints
            if let latest = request.options.latestStartMilliseconds, latest <= terms.clock.wall {
                constraints.isPastLatestStart = true
            }
        }
        if let known = terms.known[constraints] { return known }
        let id = try constraintsID(for: constraints, in: terms.session)
        terms.known[constraints] = id
        return id
    }

    /// The few tasks that have such times get them with a statement of their own.
    func writeTimes(of request: Request, to task: TaskID, _ terms: inout EnqueueTerms) throws(Failure) {
        let options = request.options
        let wall = terms.clock.wall
        let latest = options.latestStartMilliseconds.flatMap { $0 > wall ? $0 : nil }
        let earliest = options.earliestStartMilliseconds.flatMap { $0 > wall ? $0 : nil }
        let timeout = options.policy.resourceTimeoutMilliseconds
        guard latest != nil || earliest != nil || timeout != nil else { return }
        // One that is suspended waits for its earliest start when it is resumed.
        let due = request.startsSuspended
            ? nil : earliest.map { Self.due(at: $0, bootMilliseconds: terms.clock.boot, now: wall) }
        terms.hasLatestStart = terms.hasLatestStart || latest != nil
        terms.hasDelayed = terms.hasDelayed || due != nil
        try tables.delays.setTimes(
            of: task, latest: latest, due: due,
            end: timeout.map { terms.now.addingReportingOverflow(Int64(clamping: $0)).partialValue })
    }
}
