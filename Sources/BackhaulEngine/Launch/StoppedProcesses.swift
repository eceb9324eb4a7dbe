internal import BackhaulPlatform

/// The hosts that are stopped (SIGSTOP) or frozen, and the times since then. The system does not report a stop. So the
/// time counts from the first check that found it, for a listing or for an event of the host.
struct StoppedProcesses {
    struct Since: Equatable {
        /// The time in Unix milliseconds.
        var wall: Int64
        /// The time by the boot clock, in milliseconds.
        var boot: Int64
    }

    private static let pauseMilliseconds: Int64 = 1_000

    private let isStopped: (Int32) -> Bool
    private var since: [Int32: Since] = [:]
    private var lookedAt: [Int32: Int64] = [:]

    init(isStopped: @escaping (Int32) -> Bool = isStoppedOrFrozen) { self.isStopped = isStopped }

    static func isStoppedOrFrozen(_ process: Int32) -> Bool {
        ProcessIdentity.isStopped(processID: process) || ControlGroup.isFrozen(processID: process)
    }

    /// Checks the process. Returns since when it is stopped; nil: it runs. `now`: milliseconds since boot.
    mutating func look(at process: Int32, now: Int64) -> Since? {
        guard isStopped(process) else {
            since[process] = nil
            return nil
        }
        let known = since[process] ?? Since(wall: Clock.wallMilliseconds, boot: now)
        since[process] = known
        return known
    }

    /// The process got an event. Returns true when it is stopped and was not before. A process is checked at most once
    /// a second, because there may be thousands of events, and a check costs as much as several of them.
    mutating func noteEvent(for process: Int32, now: Int64) -> Bool {
        if let before = lookedAt[process], now - before < Self.pauseMilliseconds { return false }
        lookedAt[process] = now
        let wasStopped = since[process] != nil
        return look(at: process, now: now) != nil && !wasStopped
    }

    mutating func forget(_ process: Int32) {
        since[process] = nil
        lookedAt[process] = nil
    }
}
