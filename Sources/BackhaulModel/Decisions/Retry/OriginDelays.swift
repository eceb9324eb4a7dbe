/// The origins whose servers have asked for a pause with Retry-After. Until the pause is over, no task starts at such
/// an origin. Then the origin starts slowly: one task runs, and each response doubles the number of tasks that may run.
/// Without the slow start, a server that limits requests would get the requests of all waiting tasks at once.
///
/// All times are milliseconds of the boot clock.
public struct OriginDelays: Sendable {
    /// After this time without a response, the origin is forgotten.
    static let idleMilliseconds: Int64 = 600_000
    /// The most origins. If a further origin asks for a pause, the pause that ends first is forgotten.
    static let capacity = 1_024
    /// The slow start is over when this many tasks may run.
    static let fullWidth = 64
    /// After this time without a response, one more task may follow a redirect to the origin. The task before may have
    /// failed without a response.
    static let admissionMilliseconds: Int64 = 10_000
    /// The time between two groups of redirected tasks. Each group has twice as many tasks as the group before.
    static let groupMilliseconds: Int64 = 1_000

    private struct Delay: Sendable {
        var end: Int64
        /// The number of tasks that may run after the end of the pause.
        var width = 1
        /// The number of tasks that followed a redirect to the origin since the last response.
        var admitted = 0
        /// The number of tasks that did not follow a redirect to the origin, and wait.
        var redirected = 0
        /// When the pause ended, the last response arrived, or the last task followed a redirect.
        var lastChange: Int64
    }

    private var delays: [Origin: Delay] = [:]

    public init() {}

    public var isEmpty: Bool { delays.isEmpty }

    /// Begins a pause, or makes the present pause longer.
    mutating func pause(_ origin: Origin, seconds: Int64, now: Int64) {
        let end = max(now + min(seconds, RetryDecision.retryAfterLimit) * 1_000, delays[origin]?.end ?? 0)
        if delays[origin] == nil, delays.count >= Self.capacity,
            let first = delays.min(by: { $0.value.end < $1.value.end })
        {
            delays[first.key] = nil
        }
        delays[origin] = Delay(end: end, lastChange: end)
    }

    /// Notes a response. Returns whether the limits change. Without a demand for a pause, a response during the pause
    /// belongs to a request from before the pause, so it does not change the pause.
    public mutating func responded(_ response: OriginResponse, from origin: Origin, now: Int64) -> Bool {
        if case .pause(let seconds) = response {
            pause(origin, seconds: seconds, now: now)
            return true
        }
        guard var delay = delays[origin], delay.end <= now else { return false }
        if response == .other { delay.width *= 2 }
        delay.admitted = 0
        delay.lastChange = now
        delays[origin] = delay.width < Self.fullWidth ? delay : nil
        return response == .other
    }

    /// The end of the origin's pause; nil if there is no pause now.
    public func end(of origin: Origin, now: Int64) -> Int64? {
        delays[origin].flatMap { $0.end > now ? $0.end : nil }
    }

    /// How many tasks may run at the origins with a limit. A running task that started before the end of the pause does
    /// not count for the width, because it may run for hours without a further response.
    public func widths(running: [(origin: Origin, start: Int64)] = [], now: Int64) -> [Origin: Int] {
        var widths = delays.mapValues { $0.end > now ? 0 : $0.width }
        for task in running {
            guard let delay = delays[task.origin], delay.end <= now, task.start < delay.end else { continue }
            widths[task.origin, default: 0] += 1
        }
        return widths
    }

    /// Returns how long a task waits instead of following a redirect to the origin, in milliseconds. Returns nil if the
    /// task may follow the redirect now. The waiting tasks continue in groups, because each of them sends a request to
    /// the server that redirects.
    public mutating func delayOfRedirect(to origin: Origin, now: Int64) -> Int64? {
        guard var delay = delays[origin] else { return nil }
        defer { delays[origin] = delay }
        if delay.end <= now {
            let isOverdue = now - delay.lastChange >= Self.admissionMilliseconds
            if delay.admitted < delay.width || isOverdue {
                delay.admitted += 1
                delay.lastChange = now
                return nil
            }
        }
        delay.redirected += 1
        let group = Int64(Int.bitWidth - 1 - delay.redirected.leadingZeroBitCount)
        return max(delay.end - now, Self.groupMilliseconds) + group * Self.groupMilliseconds
    }

    /// Forgets origins that have been idle for too long. Returns the next time at which a limit changes; nil if there
    /// is no such time.
    public mutating func update(now: Int64) -> Int64? {
        delays = delays.filter { $0.value.lastChange + Self.idleMilliseconds > now }
        return delays.values.map { $0.end > now ? $0.end : $0.lastChange + Self.idleMilliseconds }.min()
    }
}

/// What a response says about further requests to its origin.
public enum OriginResponse: Equatable, Sendable {
    /// No request should come before the end of a pause.
    case pause(seconds: Int64)
    /// The server refuses requests, without a demand for a pause.
    case refusal
    case other
}

/// A delay that a server has demanded with Retry-After. The greatest is the longest one.
public struct DemandedDelay: Comparable, Sendable {
    public var seconds: Int64
    /// Whether it is a pause of the origin. Otherwise, only the task waits.
    public var pausesOrigin: Bool

    public static func < (one: DemandedDelay, other: DemandedDelay) -> Bool {
        (one.seconds, one.pausesOrigin ? 1 : 0) < (other.seconds, other.pausesOrigin ? 1 : 0)
    }
}

extension ResponseHead {
    /// What the response says about its origin; nil if a portal has responded in place of the origin.
    public var originResponse: OriginResponse? {
        guard status != 511 else { return nil }
        guard Self.mayDemandPause(status) else { return .other }
        guard let retryAfterSeconds, retryAfterSeconds > 0 else { return .refusal }
        return .pause(seconds: retryAfterSeconds)
    }

    /// The least delay, in seconds, after which the server expects the request again; nil if it does not expect it.
    public var pauseSeconds: Int64? { Self.mayDemandPause(status) ? retryAfterSeconds : nil }

    /// The delay that the server demands with Retry-After, for whatever reason; nil: it demands none.
    public var demandedDelay: DemandedDelay? {
        retryAfterSeconds.map { DemandedDelay(seconds: $0, pausesOrigin: $0 > 0 && pauseSeconds != nil) }
    }

    /// Whether Retry-After in a response with this status is a demand to send fewer requests. A portal sends the status
    /// 511, and says nothing about the server.
    static func mayDemandPause(_ status: Int32) -> Bool {
        [403, 413, 429].contains(status) || (500...599).contains(status) && status != 511
    }
}
