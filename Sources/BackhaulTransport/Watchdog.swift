internal import BackhaulLoop

/// Looks at what may have gone silent, at times that each look decides anew.
final class Watchdog {
    private let loop: Loop
    private var timer: LoopTimer?
    private var due = Int64.max

    /// `look` says when to look again, in boot-clock milliseconds, or nil.
    init(_ loop: Loop, look: @escaping () -> Int64?) {
        self.loop = loop
        timer = loop.timer { [weak self] in
            self?.due = .max
            // What it finds may be the end of the watchdog.
            if let next = look() { self?.look(at: next) }
        }
    }

    /// Looks then, if not before.
    func look(at time: Int64) {
        guard time < due else { return }
        due = time
        timer?.start(milliseconds: time - loop.now)
    }
}
