internal import BackhaulModel
internal import BackhaulStore

/// Notices that an engine has nothing to do. A daemon then returns memory to the system. The daemon ends when it has
/// had nothing to do for a configured time, its linger time.
///
/// Each engine has one object of this type. An embedded engine runs in another program. Such an engine does not return
/// memory, because the memory belongs to this program. The engine ends with this program.
final class IdleMonitor {
    /// The delays before memory is returned, in milliseconds. The first delay follows the last work. At the end of the
    /// second delay, `Transport` has closed its idle connections. Then a daemon makes no system call until the next
    /// work is due.
    private static let memoryReleaseDelays: [Int64] = [2_000, 31_000]

    private let runtime: any Runtime
    /// The linger time in milliseconds; nil if the engine does not end by itself.
    private let lingerMilliseconds: Int64?
    private let facts: () -> IdleExitPolicy.Facts?
    private var memoryTimer: (any RuntimeTimer)?
    private var lingerTimer: (any RuntimeTimer)?
    /// Whether work was done since `memoryTimer` was started.
    private var hasWorked = false
    /// The number of times that memory was returned since the last work.
    private var memoryReleaseStage = 0

    /// - facts: returns the remaining work, as far as the engine knows it without the store; nil while the engine ends.
    init(_ runtime: any Runtime, lingerMilliseconds: Int64?, facts: @escaping () -> IdleExitPolicy.Facts?) {
        self.runtime = runtime
        self.lingerMilliseconds = lingerMilliseconds
        self.facts = facts
        memoryTimer = runtime.timer { [unowned self] in releaseMemoryWhenIdle() }
        lingerTimer = runtime.timer { [unowned self] in lingerIsOver() }
    }

    func close() {
        memoryTimer?.stop()
        lingerTimer?.stop()
    }

    // MARK: Memory

    func noteWork() {
        guard lingerMilliseconds != nil, memoryReleaseStage != 0 || memoryTimer?.isRunning != true else {
            hasWorked = true
            return
        }
        hasWorked = false
        memoryReleaseStage = 0
        memoryTimer?.start(milliseconds: Self.memoryReleaseDelays[0])
    }

    private func releaseMemoryWhenIdle() -> [EngineEffect] {
        guard let facts = facts() else { return [] }
        let isBusy = hasWorked || facts.runningTasks > 0
        hasWorked = false
        memoryReleaseStage = isBusy ? 0 : memoryReleaseStage + 1
        if memoryReleaseStage < Self.memoryReleaseDelays.count {
            memoryTimer?.start(milliseconds: Self.memoryReleaseDelays[memoryReleaseStage])
        }
        return isBusy ? [] : [.releaseMemory]
    }

    // MARK: The end

    /// If `facts` reports no remaining work, starts the linger time again.
    func mayBeIdle() {
        guard let lingerMilliseconds, let facts = facts(), IdleExitPolicy.mayExit(facts) else { return }
        lingerTimer?.start(milliseconds: lingerMilliseconds)
    }

    private func lingerIsOver() -> [EngineEffect] {
        guard let facts = facts(), IdleExitPolicy.mayExit(facts) else { return [] }
        runtime.store(
            { (transaction) throws(Failure) in
                (tasks: try transaction.lanes.anyStarts(), activities: try transaction.activities.hasAny())
            },
            then: { [unowned self] result in
                // If the store cannot be read now, the linger time starts again.
                guard case .success(let waiting) = result else { return [.mayBeIdle] }
                return decide(tasksWait: waiting.tasks, activitiesWait: waiting.activities)
            })
        return []
    }

    private func decide(tasksWait: Bool, activitiesWait: Bool) -> [EngineEffect] {
        guard var facts = facts() else { return [] }
        facts.tasksWait = tasksWait
        facts.activitiesWait = activitiesWait
        return IdleExitPolicy.mayExit(facts) ? [.exitIfUnconnected] : []
    }
}
