internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host promises that a struct it passes can be read until the call returns; all of it is copied here.

/// `bh_session_configuration` with its defaults filled in.
enum ConfigurationArgument {
    private static let firstSize = StructArgument.end(of: \bh_session_configuration.reserved)

    /// `identifier`: the session's, when the struct may leave it out; given all the same it must be equal.
    static func read(
        _ pointer: UnsafePointer<bh_session_configuration>?, of identifier: String? = nil
    ) throws(Failure) -> SessionConfiguration {
        let given = try StructArgument.read(
            NumberArgument.required(pointer, "configuration"), "configuration", into: bh_session_configuration(),
            firstSize: firstSize)
        try StructArgument.checkReserved(UInt64(given.reserved), in: "configuration")
        var configuration = SessionConfiguration(identifier: try self.identifier(given.identifier, of: identifier))
        configuration.set(try PolicyArgument.read(given.retry, given.rules))
        configuration.constraints = try ConstraintsArgument.read(given.constraints)
        try readSecurity(given.tls, into: &configuration)
        try readProxy(given.proxy, into: &configuration)
        configuration.budget = NetworkArgument.budget(given.budget)
        configuration.bytesPerSecond = PolicyArgument.unlessZero(given.bytes_per_second)
        configuration.headers = try HeaderArgument.read(given.headers, given.header_count)
        set(&configuration.connectionsPerOrigin, given.connections_per_origin)
        set(&configuration.maximumRunningTasks, given.maximum_running_tasks)
        if given.history_limit == UInt32.max {
            configuration.historyLimit = nil
        } else if given.history_limit > 0 {
            configuration.historyLimit = given.history_limit
        }
        if given.cookies != 0 {
            configuration.cookies = try NumberArgument.value(given.cookies, "cookies", of: "one of BH_COOKIES_…")
        }
        configuration.tolerances = Tolerances(rawValue: given.tolerances)
        configuration.sendsLaunchEvents = try choice(given.sends_launch_events, "sends_launch_events", unless: true)
        configuration.asksForCredentials = try choice(
            given.asks_for_credentials, "asks_for_credentials", unless: false)
        configuration.isDiscretionaryIfLaunched = try choice(
            given.discretionary_if_launched, "discretionary_if_launched", unless: false)
        configuration.launchIfStoppedMilliseconds = given.launch_if_stopped_ms
        set(&configuration.slowAfterMilliseconds, given.slow_after_ms)
        set(&configuration.slowPauseMilliseconds, given.slow_pause_ms)
        try SessionCheck.check(configuration)
        return configuration
    }

    private static func readSecurity(
        _ given: bh_tls_settings, into configuration: inout SessionConfiguration
    ) throws(Failure) {
        try StructArgument.checkReserved(
            UInt64(given.reserved_number), given.reserved.0, given.reserved.1, in: "tls")
        configuration.caFile = try text(given.ca_file, "ca_file")
        configuration.tls.clientCertificate = try text(given.client_certificate, "client_certificate")
        configuration.tls.clientKey = try text(given.client_key, "client_key")
        configuration.tls.pinnedPublicKeys = try text(given.pinned_public_keys, "pinned_public_keys")
        if given.minimum_version != 0 {
            configuration.tls.minimum = try NumberArgument.value(
                given.minimum_version, "tls.minimum_version", of: "BH_TLS_1_2 or BH_TLS_1_3")
        }
    }

    private static func readProxy(
        _ given: bh_proxy_settings, into configuration: inout SessionConfiguration
    ) throws(Failure) {
        try StructArgument.checkReserved(given.reserved.0, given.reserved.1, in: "proxy")
        configuration.proxy.url = try text(given.url, "proxy.url")
        configuration.proxy.user = try text(given.user, "proxy.user")
        configuration.proxy.password = try text(given.password, "proxy.password")
        configuration.proxy.exceptions = try text(given.bypass, "proxy.bypass")
    }

    private static func text(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(Failure) -> String? {
        try TextArgument.optional(pointer, name, limit: Limits.pathSize)
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

extension SessionConfiguration {
    /// What the policy does not say stays as it is.
    fileprivate mutating func set(_ policy: TaskPolicy) {
        func set<Value>(_ field: inout Value, _ given: Value?) { if let given { field = given } }
        if let attempts = policy.maximumAttempts { maximumAttempts = attempts }
        set(&firstRetryDelayMilliseconds, policy.firstRetryDelayMilliseconds)
        set(&longestRetryDelayMilliseconds, policy.longestRetryDelayMilliseconds)
        set(&retryJitterPercent, policy.retryJitterPercent)
        set(&retryErrors, policy.retryErrors)
        set(&retriesUnsafeMethods, policy.retriesUnsafeMethods)
        set(&retryStatuses, policy.retryStatuses)
        set(&acceptedStatuses, policy.acceptedStatuses)
        set(&requestTimeoutMilliseconds, policy.requestTimeoutMilliseconds)
        set(&resourceTimeoutMilliseconds, policy.resourceTimeoutMilliseconds)
        set(&httpVersion, policy.httpVersion)
        set(&redirects, policy.redirects)
        set(&maximumRedirects, policy.maximumRedirects)
        if let size = policy.maximumSize { maximumSize = size }
    }
}
