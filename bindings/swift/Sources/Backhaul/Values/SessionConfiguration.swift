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

    public init(identifier: String) { self.identifier = identifier }
}

extension SessionConfiguration {
    init(_ value: bh_session_configuration) {
        self.init(identifier: text(value.identifier) ?? "")
        func number(_ value: UInt32) -> Int? { value == 0 ? nil : Int(value) }
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
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_session_configuration {
        var value = bh_session_configuration()
        value.struct_size = MemoryLayout<bh_session_configuration>.size
        value.identifier = try arena.string(identifier, "the session's identifier")
        value.connections_per_origin = try number(connectionsPerOrigin, "connectionsPerOrigin")
        value.maximum_running_tasks = try number(maximumRunningTasks, "maximumRunningTasks")
        value.maximum_attempts = try number(maximumAttempts, "maximumAttempts")
        value.first_retry_delay_ms = try number(milliseconds(firstRetryDelay), "firstRetryDelay")
        value.longest_retry_delay_ms = try number(milliseconds(longestRetryDelay), "longestRetryDelay")
        value.request_timeout_ms = try number(milliseconds(requestTimeout), "requestTimeout")
        value.resource_timeout_ms = try number(milliseconds(resourceTimeout), "resourceTimeout")
        value.ca_file = try arena.optionalString(certificateFile, "certificateFile")
        return value
    }

    /// Nil is the library's 0; a given 0 would silently become the default, so it is refused like any other bad number.
    private func number<Number: FixedWidthInteger>(
        _ value: Int?, _ name: String
    ) throws(BackhaulError) -> Number {
        guard let value else { return 0 }
        guard value > 0, let number = Number(exactly: value) else {
            throw BackhaulError(
                BH_INVALID_ARGUMENT, message: "\(name) must be positive and fit the library's \(Number.bitWidth) bits.")
        }
        return number
    }

    private func milliseconds(_ duration: Duration?) -> Int? { duration.map { Int(clamping: $0.wholeMilliseconds) } }
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
