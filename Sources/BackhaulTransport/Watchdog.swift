internal import BackhaulLoop

/// A timer for a function that checks for silent transfers, which send and receive no bytes. Each call of the function
/// returns the time of the next call.
final class Watchdog {
    private let loop: Loop
    private var timer: LoopTimer?
    private var due = Int64.max

    /// - check: checks the transfers. Returns when to check again, in milliseconds of the boot clock, or nil if no
    ///   check is needed.
    init(_ loop: Loop, check: @escaping () -> Int64?) {
        self.loop = loop
        timer = loop.timer { [weak self] in
            self?.due = .max
            // The watchdog may be freed during `check`.
            if let next = check() { self?.schedule(at: next) }
        }
    }

    /// Schedules a check at this time. If an earlier check is scheduled, does nothing.
    func schedule(at time: Int64) {
        guard time < due else { return }
        due = time
        timer?.start(milliseconds: time - loop.now)
    }
}
