internal import BackhaulModel
internal import BackhaulPlatform

/// Reports the pauses that servers have asked for, so that no worker starts tasks there.
struct OriginPauses {
    private static let intervalMilliseconds: Int64 = 1_000

    /// The ends of the pauses that are in the database, by origin, in Unix milliseconds.
    private var reported: [Int64: Int64] = [:]
    private var due = Deadline.after(milliseconds: 0)

    /// - pauses: the runs that wait for the end of a pause, in Unix milliseconds.
    /// - origin: the origin of a run; nil if the worker does not run it any more.
    mutating func report(
        _ pauses: () throws(FleetError) -> [(run: TaskRun, end: Int64)], origin: (TaskRun) -> Int64?,
        _ database: DatabaseConnection
    ) throws(FleetError) {
        guard due.hasPassed else { return }
        due = .after(milliseconds: Self.intervalMilliseconds)
        let now = Clock.wallMilliseconds
        reported = reported.filter { $0.value > now }
        for (run, end) in try pauses() {
            guard let origin = origin(run), end > max(now, reported[origin] ?? 0) else { continue }
            try OriginLimits(database: database, origin: origin).pause(milliseconds: end - now)
            reported[origin] = end
        }
    }
}
