/// Repeats the engine's own work that the store could not do, although the store can still be used, for example because
/// the disk is full.
///
/// Each engine has one object of this type. It owns the work to repeat and the timer for it.
final class StoreRetries {
    private static let retryMilliseconds: Int64 = 1_000

    private var work: [() -> Void] = []
    private var timer: (any RuntimeTimer)?

    init(_ runtime: any Runtime) {
        timer = runtime.timer { [unowned self] in
            retryAll()
            return []
        }
    }

    func close() { timer?.stop() }

    /// Adds work. One second after the first work was added, all waiting work runs.
    func add(_ work: @escaping () -> Void) {
        self.work.append(work)
        if self.work.count == 1 { timer?.start(milliseconds: Self.retryMilliseconds) }
    }

    private func retryAll() {
        let due = work
        work = []
        for repeatWork in due { repeatWork() }
    }
}
