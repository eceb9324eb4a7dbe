internal import BackhaulModel

/// The columns of `sessions` that a configuration is made of, but for the identifier: written and read in this order.
enum ConfigurationColumns {
    private static let columns = [
        "connections_per_origin", "maximum_running_tasks", "maximum_attempts", "first_retry_delay_ms",
        "longest_retry_delay_ms", "request_timeout_ms", "resource_timeout_ms", "ca_file", "sends_launch_events",
        "asks_for_credentials", "launch_if_stopped_ms", "retry_jitter_percent", "retry_errors",
        "retries_unsafe_methods", "retry_statuses", "accepted_statuses", "http_version", "redirects",
        "maximum_redirects", "maximum_size", "headers", "bytes_per_second", "proxy", "proxy_user", "proxy_password",
        "no_proxy", "cookies", "minimum_tls", "client_certificate", "client_key", "pinned_public_keys",
        "history_limit", "preset", "requires_external_power", "requires_unmetered", "networks",
        "minimum_battery_percent", "maximum_thermal_state", "maximum_cpu_pressure_percent",
        "maximum_io_pressure_percent", "maximum_memory_pressure_percent", "minimum_bytes_per_second", "quiet_hours",
        "slow_after_ms", "slow_pause_ms", "discretionary_if_launched", "daily_budget", "monthly_budget",
        "tolerances",
    ]

    static let names = columns.joined(separator: ", ")
    static let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")

    /// "name = ?2, …"
    static func assignments(from first: Int) -> String {
        columns.enumerated().map { "\($1) = ?\($0 + first)" }.joined(separator: ", ")
    }

    static func values(_ configuration: SessionConfiguration) -> [Value] {
        [
            .number(configuration.connectionsPerOrigin),
            .number(configuration.maximumRunningTasks),
            .optional(configuration.maximumAttempts),
            .number(configuration.firstRetryDelayMilliseconds),
            .number(configuration.longestRetryDelayMilliseconds),
            .number(configuration.requestTimeoutMilliseconds),
            .number(configuration.resourceTimeoutMilliseconds),
            .optional(configuration.caFile),
            .flag(configuration.sendsLaunchEvents),
            .flag(configuration.asksForCredentials),
            .number(configuration.launchIfStoppedMilliseconds),
            .number(configuration.retryJitterPercent),
            .number(configuration.retryErrors.rawValue),
            .flag(configuration.retriesUnsafeMethods),
            .text(configuration.retryStatuses.text),
            .text(configuration.acceptedStatuses.text),
            .number(configuration.httpVersion.rawValue),
            .number(configuration.redirects.rawValue),
            .number(configuration.maximumRedirects),
            .bits(configuration.maximumSize),
            .optional(HeaderBlob.pack(configuration.headers)),
            .bits(configuration.bytesPerSecond),
            .optional(configuration.proxy.url),
            .optional(configuration.proxy.user),
            .optional(configuration.proxy.password),
            .optional(configuration.proxy.exceptions),
            .number(configuration.cookies.rawValue),
            .number(configuration.tls.minimum.rawValue),
            .optional(configuration.tls.clientCertificate),
            .optional(configuration.tls.clientKey),
            .optional(configuration.tls.pinnedPublicKeys),
            .optional(configuration.historyLimit),
        ] + values(configuration.constraints) + [
            .number(configuration.slowAfterMilliseconds),
            .number(configuration.slowPauseMilliseconds),
            .flag(configuration.isDiscretionaryIfLaunched),
            .bits(configuration.budget.daily),
            .bits(configuration.budget.monthly),
            .number(configuration.tolerances.rawValue),
        ]
    }
}

extension ConfigurationColumns {
    /// From `preset` to `quiet_hours`.
    static func values(_ constraints: Constraints) -> [Value] {
        [
            .optional(constraints.preset?.rawValue),
            .optional(constraints.requiresExternalPower.map { $0 ? 1 : 0 }),
            .optional(constraints.requiresUnmetered.map { $0 ? 1 : 0 }),
            .optional(constraints.networks?.rawValue),
            .optional(constraints.minimumBatteryPercent),
            .optional(constraints.maximumThermalState?.rawValue),
            .optional(constraints.maximumCPUPressurePercent),
            .optional(constraints.maximumIOPressurePercent),
            .optional(constraints.maximumMemoryPressurePercent),
            .bits(constraints.minimumBytesPerSecond),
            .optional(constraints.quietHours?.text),
        ]
    }
}

extension Row {
    mutating func constraints() -> Constraints {
        var constraints = Constraints()
        constraints.preset = optionalNumber().flatMap(ConstraintPreset.init)
        constraints.requiresExternalPower = optionalInteger().map { $0 != 0 }
        constraints.requiresUnmetered = optionalInteger().map { $0 != 0 }
        constraints.networks = optionalNumber().map(NetworkKinds.init)
        constraints.minimumBatteryPercent = optionalNumber()
        constraints.maximumThermalState = optionalNumber().flatMap(ThermalState.init)
        constraints.maximumCPUPressurePercent = optionalNumber()
        constraints.maximumIOPressurePercent = optionalNumber()
        constraints.maximumMemoryPressurePercent = optionalNumber()
        constraints.minimumBytesPerSecond = optionalBits()
        constraints.quietHours = optionalText().flatMap(QuietHours.init)
        return constraints
    }

    /// The identifier and `ConfigurationColumns.names`.
    mutating func configuration() throws(Failure) -> SessionConfiguration {
        var configuration = SessionConfiguration(identifier: text())
        configuration.connectionsPerOrigin = number()
        configuration.maximumRunningTasks = number()
        configuration.maximumAttempts = optionalNumber()
        configuration.firstRetryDelayMilliseconds = number()
        configuration.longestRetryDelayMilliseconds = number()
        configuration.requestTimeoutMilliseconds = number()
        configuration.resourceTimeoutMilliseconds = number()
        configuration.caFile = optionalText()
        configuration.sendsLaunchEvents = flag()
        configuration.asksForCredentials = flag()
        configuration.launchIfStoppedMilliseconds = number()
        configuration.retryJitterPercent = number()
        configuration.retryErrors = RetryErrors(rawValue: number())
        configuration.retriesUnsafeMethods = flag()
        configuration.retryStatuses = StatusList(text()) ?? .transient
        configuration.acceptedStatuses = StatusList(text()) ?? .successful
        configuration.httpVersion = HTTPVersion(rawValue: number()) ?? .standard
        configuration.redirects = RedirectPolicy(rawValue: number()) ?? .follow
        configuration.maximumRedirects = number()
        configuration.maximumSize = optionalBits()
        configuration.headers = try HeaderBlob.unpack(optionalBlob())
        configuration.bytesPerSecond = optionalBits()
        configuration.proxy.url = optionalText()
        configuration.proxy.user = optionalText()
        configuration.proxy.password = optionalText()
        configuration.proxy.exceptions = optionalText()
        configuration.cookies = CookiePolicy(rawValue: number()) ?? .none
        configuration.tls.minimum = TLSConfiguration.Version(rawValue: number()) ?? .tls12
        configuration.tls.clientCertificate = optionalText()
        configuration.tls.clientKey = optionalText()
        configuration.tls.pinnedPublicKeys = optionalText()
        configuration.historyLimit = optionalNumber()
        configuration.constraints = constraints()
        configuration.slowAfterMilliseconds = number()
        configuration.slowPauseMilliseconds = number()
        configuration.isDiscretionaryIfLaunched = flag()
        configuration.budget = ByteBudget(daily: optionalBits(), monthly: optionalBits())
        configuration.tolerances = Tolerances(rawValue: number())
        return configuration
    }
}
