internal import BackhaulPlatform

/// Which hosts are seen to be stopped, and since when. The system does not report a stop, so it counts from the time
/// when it was first seen: when a session was listed, or an event came for the host.
struct StoppedProcesses {
    struct Since: Equatable {
        /// Unix milliseconds.
        var wall: Int64
        /// On the clock that starts with a boot.
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

    /// `now`: milliseconds since boot. Nil when it runs.
    mutating func look(at process: Int32, now: Int64) -> Since? {
        guard isStopped(process) else {
            since[process] = nil
            return nil
        }
        let known = since[process] ?? Since(wall: Clock.wallMilliseconds, boot: now)
        since[process] = known
        return known
    }

    /// An event came for the process. True when it is newly seen to be stopped. A process is looked at once a second at
    /// most: events come in thousands, and a look costs as much as some of them.
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
