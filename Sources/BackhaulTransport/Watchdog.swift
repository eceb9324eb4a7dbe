internal import BackhaulLoop

/// Calls a function that looks for silent transfers. Each call returns the time of the next.
final class Watchdog {
    private let loop: Loop
    private var timer: LoopTimer?
    private var due = Int64.max

    /// - look: checks the transfers, and returns when to check again, in boot-clock milliseconds, or nil.
    init(_ loop: Loop, look: @escaping () -> Int64?) {
        self.loop = loop
        timer = loop.timer { [weak self] in
            self?.due = .max
            // `look` may release the watchdog.
            if let next = look() { self?.look(at: next) }
        }
    }

    /// Schedules a check at this time, unless an earlier one is scheduled.
    func look(at time: Int64) {
        guard time < due else { return }
        due = time
        timer?.start(milliseconds: time - loop.now)
    }
}
