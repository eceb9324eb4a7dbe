/// How often in a row an application was launched in vain, and until when it is left in peace. Times are milliseconds
/// of the clock that starts with a boot.
public struct LaunchBackoff: Equatable, Sendable {
    /// Launches in a row without completing, the one that lives included.
    public private(set) var launches: UInt32
    /// Not before; nil: at once.
    public private(set) var dueAt: Int64?

    public init(launches: UInt32 = 0, dueAt: Int64? = nil) {
        self.launches = launches
        self.dueAt = dueAt
    }

    /// The delay counts from here until the launched host is seen to end: an engine that dies in between starts no
    /// second one at once.
    public mutating func launched(now: Int64, _ policy: LaunchPolicy) {
        launches = launches == .max ? .max : launches + 1
        dueAt = now + policy.delay(after: launches)
    }

    /// The launched host is gone, or never came to life. One that has completed some session was not in vain: what has
    /// come up since is launched for at once.
    public mutating func ended(now: Int64, _ policy: LaunchPolicy) {
        dueAt = launches == 0 ? nil : now + policy.delay(after: launches)
    }

    /// A host has connected of itself.
    public mutating func hostCame(whileLaunchedOneLives: Bool) {
        launches = whileLaunchedOneLives ? min(launches, 1) : 0
        dueAt = nil
    }

    /// A session was completed, or no session needs its host any more.
    public mutating func succeeded() {
        launches = 0
        dueAt = nil
    }
}

/// What the launch command says of time and number.
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

    /// Before the next launch when so many, at least one, were in vain.
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
