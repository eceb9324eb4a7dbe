internal import BackhaulLoop
internal import BackhaulPlatform
internal import BackhaulStore

/// A daemon waits for days between two things to do. After a quiet moment it gives back what the work has left behind:
/// the database's pages, memory that malloc keeps. Once after a short one, once more when the transport has closed its
/// connections; then it makes no system call until something is due.
///
/// An engine inside of a host leaves the memory of the process to the host.
extension EngineCore {
    /// The later one is longer than `Transport` keeps connections.
    private static let restDelays: [Int64] = [2_000, 31_000]

    /// After anything that was done.
    func noteWork() {
        guard services.options.isDaemon, restStage != 0 || restTimer?.isRunning != true else {
            hasWorked = true
            return
        }
        hasWorked = false
        restStage = 0
        restTimer?.start(milliseconds: Self.restDelays[0])
    }

    func rest() {
        guard !hasFailed, !isLeaving else { return }
        if hasWorked || !runners.isEmpty {
            hasWorked = false
            restStage = 0
        } else {
            giveMemoryBack()
            restStage += 1
        }
        if restStage < Self.restDelays.count { restTimer?.start(milliseconds: Self.restDelays[restStage]) }
    }

    private func giveMemoryBack() {
        services.store.giveMemoryBack { [outbox = services.outbox] in
            outbox.post { _ in ProcessMemory.giveBack() }
        }
    }
}
