internal import BackhaulPlatform

/// Until when the worker may count on its leases. The database's clock decides when a lease ends, so the worker counts
/// from a moment before it sent the renewal: its own end of the lease is never later than the database's.
struct LeaseClock {
    let leaseMilliseconds: Int64
    /// The worker renews after a third of the lease, so two renewals may fail.
    private var renewalMilliseconds: Int64 { leaseMilliseconds / 3 }
    /// A file gets its final name only if the lease holds for this time: longer than a rename may take.
    private var marginMilliseconds: Int64 { leaseMilliseconds / 5 }
    /// When the last successful renewal was sent, by the clock that also runs while the machine sleeps.
    private var renewed: Int64?

    init(leaseMilliseconds: Int64) { self.leaseMilliseconds = leaseMilliseconds }

    mutating func renewed(sentAt milliseconds: Int64) { renewed = milliseconds }

    func isDue(at milliseconds: Int64) -> Bool { renewed.map { milliseconds - $0 >= renewalMilliseconds } ?? true }

    /// Whether the worker may give a file its final name.
    func mayPublish(at milliseconds: Int64) -> Bool {
        renewed.map { milliseconds - $0 < leaseMilliseconds - marginMilliseconds } ?? false
    }

    /// How long a worker waits until it asks the database again. Up to 1,000 workers ask at most 500 times each second
    /// together, so a new task starts in a large fleet as soon as in a small one. No wait delays a renewal much.
    func waitMilliseconds(workers: Int64) -> Int64 { min(max(200, 2 * workers), 2_000, leaseMilliseconds / 6) }
}
