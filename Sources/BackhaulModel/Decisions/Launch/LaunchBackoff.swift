/// Counts the consecutive failed launches of an application, and delays the next launch. A launch is a start of the
/// application's program (the *host*) by the engine. The launch fails if the host does not complete a session. To
/// complete a session is to state that its events are processed. Times are milliseconds since boot.
public struct LaunchBackoff: Equatable, Sendable {
    /// The number of consecutive launches whose hosts have completed no session. It includes the launch in progress.
    public private(set) var launches: UInt32
    /// The earliest time of the next launch; nil if the next launch may follow at once.
    public private(set) var dueAt: Int64?

    public init(launches: UInt32 = 0, dueAt: Int64? = nil) {
        self.launches = launches
        self.dueAt = dueAt
    }

    /// Notes a launch, and starts the delay now. When the launched host has ended, `ended` starts the delay again. If
    /// the engine crashes before the host ends, the delay that starts now still applies in the next engine. So the next
    /// engine does not launch the host again immediately.
    public mutating func launched(now: Int64, _ policy: LaunchPolicy) {
        launches = launches == .max ? .max : launches + 1
        dueAt = now + policy.delay(after: launches)
    }

    /// Notes that the launched host has ended, or could not be started. If the host has completed a session, the next
    /// launch is due at once.
    public mutating func ended(now: Int64, _ policy: LaunchPolicy) {
        dueAt = launches == 0 ? nil : now + policy.delay(after: launches)
    }

    /// Notes the connection of a host that the engine did not launch.
    public mutating func hostConnected(whileLaunchedHostRuns: Bool) {
        launches = whileLaunchedHostRuns ? min(launches, 1) : 0
        dueAt = nil
    }

    /// Notes that a session was completed, or that no session needs its host any more.
    public mutating func succeeded() {
        launches = 0
        dueAt = nil
    }
}

/// The delays and the limit of launches, as the launch command states them. The delays are in milliseconds.
public struct LaunchPolicy: Equatable, Sendable {
    public var attachTimeout: Int64
    public var firstDelay: Int64
    public var longestDelay: Int64
    public var maximumLaunches: UInt32

    public init(_ command: LaunchCommand) {
        attachTimeout = Int64(command.attachTimeoutMilliseconds)
        firstDelay = Int64(command.firstDelayMilliseconds)
        longestDelay = Int64(command.longestDelayMilliseconds)
        maximumLaunches = command.maximumLaunches
    }

    /// The delay before the next launch, after `launches` failed launches in a row. Zero launches count as one.
    public func delay(after launches: UInt32) -> Int64 {
        var delay = firstDelay
        var doublings = launches
        while doublings > 1, delay < longestDelay {
            delay *= 2
            doublings -= 1
        }
        return min(delay, longestDelay)
    }
}
