internal import BackhaulModel
internal import BackhaulStore

/// Limits the bytes per second of the engine, of each session and of each task (download or upload). All three limits
/// apply together. Before a transfer receives or sends bytes, it calls `mayMove`. While the limits do not permit this,
/// the transfer is paused.
///
/// Each engine has one object of this type. The rate limits of libcurl are not used, because each of them applies to
/// one transfer only. Also, in earlier versions of libcurl, a transfer with such a limit could stall after a pause.
final class RateLimiter {
    typealias Level = TokenBucketTree<SessionID, TaskID>.Level

    private let runtime: any Runtime
    private var budget = TokenBucketTree<SessionID, TaskID>()
    private var timer: (any RuntimeTimer)?
    private var isPlanned = false

    init(_ runtime: any Runtime) {
        self.runtime = runtime
        timer = runtime.timer { [unowned self] in release() }
    }

    func close() { timer?.stop() }

    /// Sets a limit, or removes it with nil. The change applies immediately, also to paused transfers.
    func setRate(_ bytesPerSecond: UInt64?, of level: Level) {
        budget.setRate(bytesPerSecond, of: level, now: runtime.now)
        plan()
    }

    func end(_ task: TaskID) { budget.end(task) }

    // MARK: Transfers

    var isUnlimited: Bool { budget.isUnlimited }

    func isLimited(_ task: TaskID, of session: SessionID) -> Bool { budget.isLimited(task, of: session) }

    func isWaiting(_ task: TaskID) -> Bool { budget.isWaiting(task) }

    /// The sentence about the limit for which a task waits.
    func reason(of task: TaskID) -> String? {
        guard let (level, rate) = budget.narrowestLimit(of: task) else { return WaitReason.rate.text }
        let owner: RateLimitOwner =
            switch level {
            case .engine: .engine
            case .session: .session
            case .task: .task
            }
        return owner.sentence(rate)
    }

    /// Whether a byte may be received or sent now. If not, a later effect `.resume` names the task.
    func mayMove(_ task: TaskID, of session: SessionID) -> Bool {
        if budget.isUnlimited || budget.mayMove(task, of: session, now: runtime.now) { return true }
        plan()
        return false
    }

    func moved(_ count: Int, by task: TaskID, of session: SessionID) {
        if !budget.isUnlimited { budget.moved(count, by: task, of: session) }
    }

    // MARK: Time

    /// At the end of this iteration of the loop, starts one timer for all transfers that wait.
    private func plan() {
        guard !isPlanned else { return }
        isPlanned = true
        runtime.afterThisIteration { [unowned self] in
            isPlanned = false
            startTimer()
            return []
        }
    }

    private func startTimer() {
        guard let wait = budget.millisecondsToWait(now: runtime.now) else { timer?.stop(); return }
        timer?.start(milliseconds: wait)
    }

    private func release() -> [EngineEffect] {
        let tasks = budget.release(now: runtime.now)
        startTimer()
        return tasks.isEmpty ? [] : [.resume(tasks)]
    }
}
