internal import BackhaulModel

/// Writes buffered bytes that have waited in memory for as long as a kill may lose. One timer for all downloads: a
/// timer for each would cost more than the writes.
final class FlushTimer {
    private var timer: (any RuntimeTimer)?
    private var waiting: [ObjectIdentifier: Weak] = [:]

    private struct Weak {
        weak var runner: DownloadRunner?
    }

    init(_ runtime: any Runtime) {
        timer = runtime.timer { [unowned self] in
            flush()
            return []
        }
    }

    /// The runner's buffer is written in so many milliseconds at the latest. An earlier runner may make it earlier.
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
