internal import BackhaulLoop
internal import BackhaulModel

/// Has bytes written that have waited in memory for as long as a kill may cost. One timer for all downloads: a timer
/// for each would cost more than the writes.
final class FlushTimer {
    private var timer: LoopTimer?
    private var waiting: [ObjectIdentifier: Weak] = [:]

    private struct Weak {
        weak var runner: DownloadRunner?
    }

    init(_ loop: Loop) {
        timer = loop.timer { [unowned self] in flush() }
    }

    /// The runner's buffer is to be written in so many milliseconds at the latest. Others may make it earlier.
    func add(_ runner: DownloadRunner, within milliseconds: Int64) {
        if waiting.isEmpty || timer.map({ $0.millisecondsLeft > milliseconds }) == true {
            timer?.start(milliseconds: milliseconds)
        }
        waiting[ObjectIdentifier(runner)] = Weak(runner: runner)
    }

    private func flush() {
        let runners = waiting.values.compactMap(\.runner)
        waiting.removeAll(keepingCapacity: true)
        for runner in runners { runner.handle(.aged) }
    }
}
