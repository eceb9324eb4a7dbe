internal import CBackhaul

/// What a session remembers from its creation on; attaching needs the identifier alone. Nil stands for the default.
public struct SessionConfiguration: Hashable, Sendable {
    /// 1 to 255 bytes without control characters.
    public var identifier: String
    /// Default 6, at most 256. Over HTTP/2 tasks share one connection.
    public var connectionsPerOrigin: Int?
    /// Default 64, at most 1,024.
    public var maximumRunningTasks: Int?
    /// Tries in a row without new durable bytes; by default until the resource time-out.
    public var maximumAttempts: Int?
    /// Default 1 second; doubles with each try.
    public var firstRetryDelay: Duration?
    /// Default 10 minutes.
    public var longestRetryDelay: Duration?
    /// Without a byte from the server. Default 60 seconds.
    public var requestTimeout: Duration?
    /// From enqueue. Default 7 days.
    public var resourceTimeout: Duration?
    /// Absolute path of PEM certificates to trust instead of the system's.
    public var certificateFile: String?
    /// Default true: its rounds and challenges launch the application. False: they wait for a host.
    public var sendsLaunchEvents: Bool?
    /// True: a 401 or 407 becomes a challenge, for which its tasks wait. Default false: it is a failure of the task.
    public var asksForCredentials: Bool?
    /// When the consumer's process has been stopped (SIGSTOP, debugger, freezer) for so long while the session needs
    /// it, launch all the same. Default never.
    public var launchIfStopped: Duration?

    public init(identifier: String) { self.identifier = identifier }
}

extension SessionConfiguration {
    init(_ value: bh_session_configuration) {
        self.init(identifier: text(value.identifier) ?? "")
        func number(_ value: UInt32) -> Int? { value == 0 ? nil : Int(value) }
        func choice(_ value: Int32) -> Bool? { Int(value) == BH_DEFAULT ? nil : Int(value) == BH_YES }
        func duration(_ milliseconds: UInt64) -> Duration? {
            milliseconds == 0 ? nil : .milliseconds(Int64(clamping: milliseconds))
        }
        connectionsPerOrigin = number(value.connections_per_origin)
        maximumRunningTasks = number(value.maximum_running_tasks)
        maximumAttempts = number(value.maximum_attempts)
        firstRetryDelay = duration(UInt64(value.first_retry_delay_ms))
        longestRetryDelay = duration(UInt64(value.longest_retry_delay_ms))
        requestTimeout = duration(UInt64(value.request_timeout_ms))
        resourceTimeout = duration(value.resource_timeout_ms)
        certificateFile = text(value.ca_file)
        sendsLaunchEvents = choice(value.sends_launch_events)
        asksForCredentials = choice(value.asks_for_credentials)
        launchIfStopped = duration(UInt64(value.launch_if_stopped_ms))
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_session_configuration {
        var value = bh_session_configuration()
        value.struct_size = MemoryLayout<bh_session_configuration>.size
        value.identifier = try arena.string(identifier, "the session's identifier")
        value.connections_per_origin = try positive(connectionsPerOrigin, "connectionsPerOrigin")
        value.maximum_running_tasks = try positive(maximumRunningTasks, "maximumRunningTasks")
        value.maximum_attempts = try positive(maximumAttempts, "maximumAttempts")
        value.first_retry_delay_ms = try positive(firstRetryDelay, "firstRetryDelay")
        value.longest_retry_delay_ms = try positive(longestRetryDelay, "longestRetryDelay")
        value.request_timeout_ms = try positive(requestTimeout, "requestTimeout")
        value.resource_timeout_ms = try positive(resourceTimeout, "resourceTimeout")
        value.ca_file = try arena.optionalString(certificateFile, "certificateFile")
        value.sends_launch_events = choice(sendsLaunchEvents)
        value.asks_for_credentials = choice(asksForCredentials)
        value.launch_if_stopped_ms = try positive(launchIfStopped, "launchIfStopped")
        return value
    }

    private func choice(_ value: Bool?) -> Int32 {
        Int32(value.map { $0 ? BH_YES : BH_NO } ?? BH_DEFAULT)
    }
}

/// Nil is the library's 0; a given 0 would silently become the default, so it is refused like any other bad number.
func positive<Number: FixedWidthInteger>(
    _ value: Int?, _ name: String
) throws(BackhaulError) -> Number {
    guard let value else { return 0 }
    guard value > 0, let number = Number(exactly: value) else {
        throw BackhaulError(
            BH_INVALID_ARGUMENT, message: "\(name) must be positive and fit the library's \(Number.bitWidth) bits.")
    }
    return number
}

func positive<Number: FixedWidthInteger>(_ value: Duration?, _ name: String) throws(BackhaulError) -> Number {
    try positive(value.map { Int(clamping: $0.wholeMilliseconds) }, name)
}

extension Duration {
    /// Rounded up, so that nothing positive becomes 0.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (thousands, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds > 0 ? Int64.max : Int64.min }
        let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (sum, overflowsToo) = thousands.addingReportingOverflow(rest)
        return overflowsToo ? Int64.max : sum
    }
}
