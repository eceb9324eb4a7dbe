internal import BackhaulModel
internal import BackhaulPlatform

/// The runs that wait in the local engine and need no slot, for example until their retries. Reports the pauses that
/// servers have asked for, so that no worker starts tasks there.
struct WaitingRuns {
    private static let intervalMilliseconds: Int64 = 1_000

    /// The runs that waited when the local engine was last asked.
    private(set) var runs: Set<TaskRun> = []
    /// The ends of the pauses that are in the database, by origin, in Unix milliseconds.
    private var reported: [Int64: Int64] = [:]
    private var due = Deadline.after(milliseconds: 0)

    /// - waitingRuns: the runs that wait, with the ends of the pauses of their servers, in Unix milliseconds.
    /// - origin: the origin of a run; nil if the worker does not run it any more.
    mutating func update(
        _ waitingRuns: () throws(FleetError) -> [(run: TaskRun, pauseEnd: Int64?)], origin: (TaskRun) -> Int64?,
        _ database: DatabaseConnection
    ) throws(FleetError) {
        guard due.hasPassed else { return }
        due = .after(milliseconds: Self.intervalMilliseconds)
        let now = Clock.wallMilliseconds
        reported = reported.filter { $0.value > now }
        let waiting = try waitingRuns()
        runs = Set(waiting.map(\.run))
        for (run, pauseEnd) in waiting {
            guard let end = pauseEnd, let origin = origin(run), end > max(now, reported[origin] ?? 0) else { continue }
            try OriginLimits(database: database, origin: origin).pause(milliseconds: end - now)
            reported[origin] = end
        }
    }
}
