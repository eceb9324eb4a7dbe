internal import BackhaulPlatform

/// The pause before a worker's next claim, after its local engine could not start a task. It grows with each failure,
/// because each claim adds a run to the database.
struct ClaimPause {
    /// The number of starts that have failed since the last successful one.
    private var failures = 0
    private var end = Deadline.after(milliseconds: 0)

    var isOver: Bool { end.hasPassed }
    var followsFailure: Bool { failures > 0 }

    mutating func taskStarted() { failures = 0 }

    mutating func startFailed(leaseMilliseconds: Int64) {
        failures += 1
        end = .after(milliseconds: Self.milliseconds(failures: failures, leaseMilliseconds: leaseMilliseconds))
    }

    /// A third of the lease after the first failure, twice as long after each further one, and at most 10 minutes.
    static func milliseconds(failures: Int, leaseMilliseconds: Int64) -> Int64 {
        min((leaseMilliseconds / 3) << min(failures - 1, 10), 600_000)
    }
}
