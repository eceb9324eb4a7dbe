internal import BackhaulPlatform

/// The connected processes that are stopped, and since when. The system does not report a stop. So the time counts from
/// the first check that finds the process stopped. A process is checked when its session is listed, when it gets an
/// event, and before the engine decides about a launch.
struct StoppedProcesses {
    struct StoppedSince: Equatable {
        /// The time in Unix milliseconds.
        var wall: Int64
        /// The time by the boot clock, in milliseconds.
        var boot: Int64
    }

    private static let pauseMilliseconds: Int64 = 1_000

    private let clocks: any Clocks
    private let isStopped: (Int32) -> Bool
    private var since: [Int32: StoppedSince] = [:]
    private var checkedAt: [Int32: Int64] = [:]

    init(_ clocks: any Clocks, isStopped: @escaping (Int32) -> Bool = ProcessIdentity.isStopped(processID:)) {
        self.clocks = clocks
        self.isStopped = isStopped
    }

    /// Checks the process. Returns since when it is stopped, or nil if it runs. `now`: milliseconds since boot.
    mutating func check(at process: Int32, now: Int64) -> StoppedSince? {
        guard isStopped(process) else {
            since[process] = nil
            return nil
        }
        let known = since[process] ?? StoppedSince(wall: clocks.wallMilliseconds, boot: now)
        since[process] = known
        return known
    }

    /// Checks a process that gets an event. Returns true when the process is stopped now, and was not stopped at the
    /// last check. Events cause at most one check of a process each second: there may be thousands of events, and a
    /// check costs more than an event.
    mutating func noteEvent(for process: Int32, now: Int64) -> Bool {
        if let before = checkedAt[process], now - before < Self.pauseMilliseconds { return false }
        checkedAt[process] = now
        let wasStopped = since[process] != nil
        return check(at: process, now: now) != nil && !wasStopped
    }

    mutating func forget(_ process: Int32) {
        since[process] = nil
        checkedAt[process] = nil
    }
}
