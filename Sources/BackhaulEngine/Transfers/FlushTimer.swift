internal import BackhaulModel
internal import BackhaulStore

/// Writes the buffered bytes of downloads when they have been in memory for the longest permitted time, because these
/// bytes are lost if the engine is killed. All downloads share one timer: a timer for each download would cost more
/// than the writes.
final class FlushTimer {
    private var timer: (any RuntimeTimer)?
    private var waiting: [ObjectIdentifier: Weak] = [:]

    private struct Weak {
        weak var runner: DownloadRunner?
    }

    init(_ runtime: any Runtime) {
        timer = runtime.timer { [unowned self] in flush() }
    }

    /// Writes the runner's buffer after at most `milliseconds`. The buffers of several runners are written together.
    func add(_ runner: DownloadRunner, within milliseconds: Int64) {
        if waiting.isEmpty || timer.map({ $0.millisecondsLeft > milliseconds }) == true {
            timer?.start(milliseconds: milliseconds)
        }
        waiting[ObjectIdentifier(runner)] = Weak(runner: runner)
    }

    private func flush() -> [EngineEffect] {
        let runners = waiting.values.compactMap(\.runner).sorted { $0.attempt.task.id < $1.attempt.task.id }
        waiting.removeAll(keepingCapacity: true)
        return runners.flatMap { $0.flush() }
    }
}
