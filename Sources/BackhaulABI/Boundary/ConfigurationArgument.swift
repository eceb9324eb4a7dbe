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
        var given = try StructArgument.read(
            NumberArgument.required(pointer, "configuration"), "configuration", into: bh_session_configuration(),
            firstSize: firstSize)
        // In header 0.3.0 `preset` was padding, which hosts need not set.
        if given.struct_size < StructArgument.end(of: \bh_session_configuration.requires_external_power) {
            given.preset = 0
        }
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
        try readPolicy(given, into: &configuration)
        try readConnection(given, into: &configuration)
        configuration.constraints = try ConstraintsArgument.read(given)
        set(&configuration.slowAfterMilliseconds, given.slow_after_ms)
        set(&configuration.slowPauseMilliseconds, given.slow_pause_ms)
        configuration.isDiscretionaryIfLaunched = try choice(
            given.discretionary_if_launched, "discretionary_if_launched", unless: false)
        configuration.budget = NetworkArgument.budget(daily: given.daily_budget, monthly: given.monthly_budget)
        configuration.tolerances = Tolerances(rawValue: given.tolerances)
        try SessionCheck.check(configuration)
        return configuration
    }

    private static func readPolicy(
        _ given: bh_session_configuration, into configuration: inout SessionConfiguration
    ) throws(Failure) {
        set(&configuration.retryJitterPercent, given.retry_jitter_percent)
        if given.retry_errors != 0 { configuration.retryErrors = RetryErrors(rawValue: given.retry_errors) }
        configuration.retriesUnsafeMethods = try choice(
            given.retries_unsafe_methods, "retries_unsafe_methods", unless: false)
        if let list = try PolicyArgument.statuses(given.retry_statuses, "retry_statuses") {
            configuration.retryStatuses = list
        }
        if let list = try PolicyArgument.statuses(given.accepted_statuses, "accepted_statuses") {
            configuration.acceptedStatuses = list
        }
        configuration.httpVersion = try PolicyArgument.httpVersion(given.http_version) ?? .standard
        configuration.redirects = try PolicyArgument.redirects(given.redirects) ?? .follow
        set(&configuration.maximumRedirects, given.maximum_redirects)
        configuration.maximumSize = PolicyArgument.unlessZero(given.maximum_size)
        configuration.headers = try HeaderArgument.read(given.headers, given.header_count)
        configuration.bytesPerSecond = PolicyArgument.unlessZero(given.bytes_per_second)
        if given.history_limit == UInt32.max {
            configuration.historyLimit = nil
        } else if given.history_limit > 0 {
            configuration.historyLimit = given.history_limit
        }
    }

    private static func readConnection(
        _ given: bh_session_configuration, into configuration: inout SessionConfiguration
    ) throws(Failure) {
        func text(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(Failure) -> String? {
            try TextArgument.optional(pointer, name, limit: Limits.pathSize)
        }
        configuration.proxy.url = try text(given.proxy, "proxy")
        configuration.proxy.user = try text(given.proxy_user, "proxy_user")
        configuration.proxy.password = try text(given.proxy_password, "proxy_password")
        configuration.proxy.exceptions = try text(given.no_proxy, "no_proxy")
        configuration.tls.clientCertificate = try text(given.client_certificate, "client_certificate")
        configuration.tls.clientKey = try text(given.client_key, "client_key")
        configuration.tls.pinnedPublicKeys = try text(given.pinned_public_keys, "pinned_public_keys")
        if given.cookies != 0 {
            configuration.cookies = try NumberArgument.value(given.cookies, "cookies", of: "one of BH_COOKIES_…")
        }
        if given.minimum_tls != 0 {
            configuration.tls.minimum = try NumberArgument.value(
                given.minimum_tls, "minimum_tls", of: "BH_TLS_1_2 or BH_TLS_1_3")
        }
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
        try PolicyArgument.choice(given, name) ?? standard
    }

    /// 0 leaves the default.
    private static func set<Number: FixedWidthInteger>(_ field: inout Number, _ given: Number) {
        if given > 0 { field = given }
    }
}
