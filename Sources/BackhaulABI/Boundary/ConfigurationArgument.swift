internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host promises that a struct it passes can be read until the call returns; all of it is copied here.

/// `bh_session_configuration` with its defaults filled in.
enum ConfigurationArgument {
    private static let firstSize = StructArgument.end(of: \bh_session_configuration.ca_file)

    /// `identifier`: the session's, when the struct may leave it out; given all the same it must be equal.
    static func read(
        _ pointer: UnsafePointer<bh_session_configuration>?, of identifier: String? = nil
    ) throws(Failure) -> SessionConfiguration {
        let given = try StructArgument.read(
            NumberArgument.required(pointer, "configuration"), "configuration", into: bh_session_configuration(),
            firstSize: firstSize)
        var configuration = SessionConfiguration(identifier: try self.identifier(given.identifier, of: identifier))
        set(&configuration.connectionsPerOrigin, given.connections_per_origin)
        set(&configuration.maximumRunningTasks, given.maximum_running_tasks)
        if given.maximum_attempts > 0 { configuration.maximumAttempts = given.maximum_attempts }
        set(&configuration.firstRetryDelayMilliseconds, given.first_retry_delay_ms)
        set(&configuration.longestRetryDelayMilliseconds, given.longest_retry_delay_ms)
        set(&configuration.requestTimeoutMilliseconds, given.request_timeout_ms)
        set(&configuration.resourceTimeoutMilliseconds, given.resource_timeout_ms)
        configuration.caFile = try TextArgument.optional(given.ca_file, "ca_file", limit: Limits.pathSize)
        configuration.sendsLaunchEvents = try choice(given.sends_launch_events, "sends_launch_events", unless: true)
        configuration.asksForCredentials = try choice(
            given.asks_for_credentials, "asks_for_credentials", unless: false)
        configuration.launchIfStoppedMilliseconds = given.launch_if_stopped_ms
        try SessionCheck.check(configuration)
        return configuration
    }

    private static func identifier(_ pointer: UnsafePointer<CChar>?, of session: String?) throws(Failure) -> String {
        let name = "configuration.identifier"
        guard let session else { return try TextArgument.required(pointer, name, limit: Limits.identifierSize) }
        guard let given = try TextArgument.optional(pointer, name, limit: Limits.identifierSize) else { return session }
        // Compared as bytes: Swift's == takes canonically equivalent texts for one.
        guard given.utf8.elementsEqual(session.utf8) else {
            throw Failure(
                .invalidArgument,
                "\(name) is \"\(given)\", but the session's is \"\(session)\" and stays; give that or NULL")
        }
        return session
    }

    private static func choice(_ given: Int32, _ name: String, unless standard: Bool) throws(Failure) -> Bool {
        switch Int(given) {
        case BH_DEFAULT: return standard
        case BH_YES: return true
        case BH_NO: return false
        default: throw Failure(.invalidArgument, "\(name) is \(given); give BH_DEFAULT, BH_YES or BH_NO")
        }
    }

    /// 0 leaves the default.
    private static func set<Number: FixedWidthInteger>(_ field: inout Number, _ given: Number) {
        if given > 0 { field = given }
    }
}
