/// Checks of what names and configures sessions.
public enum SessionCheck {
    /// 1 to 255 bytes of letters, digits, '.', '-' and '_', starting with a letter or digit.
    public static func checkApplication(_ identifier: String) throws(Failure) {
        let bytes = identifier.utf8
        guard !bytes.isEmpty, bytes.count <= Limits.identifierSize else {
            throw invalid(
                "the application identifier has \(bytes.count) bytes; 1 to \(Limits.identifierSize) are allowed")
        }
        let isAlphanumeric = { (byte: UInt8) in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        }
        guard bytes.first.map(isAlphanumeric) == true,
            bytes.allSatisfy({ isAlphanumeric($0) || ".-_".utf8.contains($0) })
        else {
            throw invalid(
                "the application identifier may have letters, digits, '.', '-' and '_' only and starts with a letter "
                    + "or digit, such as org.example.photos")
        }
    }

    /// 1 to 255 bytes without control characters.
    public static func checkSession(_ identifier: String) throws(Failure) {
        let size = identifier.utf8.count
        guard size > 0, size <= Limits.identifierSize else {
            throw invalid("the session identifier has \(size) bytes; 1 to \(Limits.identifierSize) are allowed")
        }
        guard identifier.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw invalid("the session identifier has a control character")
        }
    }

    public static func check(_ configuration: SessionConfiguration) throws(Failure) {
        try checkSession(configuration.identifier)
        try FieldCheck.range(
            configuration.connectionsPerOrigin, 1...Limits.connectionsPerOrigin, "connections_per_origin")
        try FieldCheck.range(configuration.maximumRunningTasks, 1...Limits.runningTasks, "maximum_running_tasks")
        if let attempts = configuration.maximumAttempts {
            try FieldCheck.range(attempts, 1...UInt32.max, "maximum_attempts")
        }
        let day: UInt32 = 86_400_000
        try FieldCheck.range(configuration.firstRetryDelayMilliseconds, 1...day, "first_retry_delay_ms")
        try FieldCheck.range(configuration.longestRetryDelayMilliseconds, 1...day, "longest_retry_delay_ms")
        guard configuration.firstRetryDelayMilliseconds <= configuration.longestRetryDelayMilliseconds else {
            throw invalid("first_retry_delay_ms is larger than longest_retry_delay_ms")
        }
        try FieldCheck.range(configuration.requestTimeoutMilliseconds, 1...day, "request_timeout_ms")
        let decade: UInt64 = 315_360_000_000
        guard (1...decade).contains(configuration.resourceTimeoutMilliseconds) else {
            throw invalid("resource_timeout_ms is outside of 1 to \(decade)")
        }
        if configuration.launchIfStoppedMilliseconds > 0 {
            try FieldCheck.range(configuration.launchIfStoppedMilliseconds, 1...day, "launch_if_stopped_ms")
        }
        if let file = configuration.caFile { try FieldCheck.path(file, "ca_file") }
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
