/// The queue of transactions that failed and are repeated after a second. They are the engine's own transactions, not
/// those of commands. They failed for a reason that may end, such as a full disk.
///
/// Each engine has one object of this type. It owns the timer.
final class StoreRetryQueue {
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
