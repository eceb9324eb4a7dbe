internal import BackhaulModel

/// The columns of `sessions` for a configuration.
extension SessionConfiguration {
    init(row: inout Row) throws(Failure) {
        self.init(identifier: row.text("identifier"))
        connectionsPerOrigin = row.number("connections_per_origin")
        maximumRunningTasks = row.number("maximum_running_tasks")
        maximumAttempts = row.optionalNumber("maximum_attempts")
        firstRetryDelayMilliseconds = row.number("first_retry_delay_ms")
        longestRetryDelayMilliseconds = row.number("longest_retry_delay_ms")
        requestTimeoutMilliseconds = row.number("request_timeout_ms")
        resourceTimeoutMilliseconds = row.number("resource_timeout_ms")
        caFile = row.optionalText("ca_file")
        sendsLaunchEvents = row.flag("sends_launch_events")
        asksForCredentials = row.flag("asks_for_credentials")
        launchIfStoppedMilliseconds = row.number("launch_if_stopped_ms")
        retryJitterPercent = row.number("retry_jitter_percent")
        retryErrors = RetryErrors(rawValue: row.number("retry_errors"))
        retriesUnsafeMethods = row.flag("retries_unsafe_methods")
        retryStatuses = StatusList(row.text("retry_statuses")) ?? .transient
        acceptedStatuses = StatusList(row.text("accepted_statuses")) ?? .successful
        httpVersion = HTTPVersion(rawValue: row.number("http_version")) ?? .standard
        redirects = RedirectPolicy(rawValue: row.number("redirects")) ?? .follow
        maximumRedirects = row.number("maximum_redirects")
        maximumSize = row.optionalBits("maximum_size")
        bytesPerSecond = row.optionalBits("bytes_per_second")
        proxy.url = row.optionalText("proxy")
        proxy.user = row.optionalText("proxy_user")
        proxy.password = row.optionalText("proxy_password")
        proxy.exceptions = row.optionalText("no_proxy")
        cookies = CookiePolicy(rawValue: row.number("cookies")) ?? .none
        tls.minimum = TLSConfiguration.Version(rawValue: row.number("minimum_tls")) ?? .tls12
        tls.clientCertificate = row.optionalText("client_certificate")
        tls.clientKey = row.optionalText("client_key")
        tls.pinnedPublicKeys = row.optionalText("pinned_public_keys")
        historyLimit = row.optionalNumber("history_limit")
        constraints = Constraints(row: &row)
        slowAfterMilliseconds = row.number("slow_after_ms")
        slowPauseMilliseconds = row.number("slow_pause_ms")
        isDiscretionaryIfLaunched = row.flag("discretionary_if_launched")
        budget = ByteBudget(daily: row.optionalBits("daily_budget"), monthly: row.optionalBits("monthly_budget"))
        tolerances = Tolerances(rawValue: row.number("tolerances"))
        headers = try HeaderBlob.unpack(row.optionalBlob("headers"))
    }

    /// Writes all columns except the identifier, which does not change.
    func write(to row: inout NewRow) {
        row.set("connections_per_origin", .number(connectionsPerOrigin))
        row.set("maximum_running_tasks", .number(maximumRunningTasks))
        row.set("maximum_attempts", .optional(maximumAttempts))
        row.set("first_retry_delay_ms", .number(firstRetryDelayMilliseconds))
        row.set("longest_retry_delay_ms", .number(longestRetryDelayMilliseconds))
        row.set("request_timeout_ms", .number(requestTimeoutMilliseconds))
        row.set("resource_timeout_ms", .number(resourceTimeoutMilliseconds))
        row.set("ca_file", .optional(caFile))
        row.set("sends_launch_events", .flag(sendsLaunchEvents))
        row.set("asks_for_credentials", .flag(asksForCredentials))
        row.set("launch_if_stopped_ms", .number(launchIfStoppedMilliseconds))
        row.set("retry_jitter_percent", .number(retryJitterPercent))
        row.set("retry_errors", .number(retryErrors.rawValue))
        row.set("retries_unsafe_methods", .flag(retriesUnsafeMethods))
        row.set("retry_statuses", .text(retryStatuses.text))
        row.set("accepted_statuses", .text(acceptedStatuses.text))
        row.set("http_version", .number(httpVersion.rawValue))
        row.set("redirects", .number(redirects.rawValue))
        row.set("maximum_redirects", .number(maximumRedirects))
        row.set("maximum_size", .bits(maximumSize))
        row.set("headers", .optional(HeaderBlob.pack(headers)))
        row.set("bytes_per_second", .bits(bytesPerSecond))
        row.set("proxy", .optional(proxy.url))
        row.set("proxy_user", .optional(proxy.user))
        row.set("proxy_password", .optional(proxy.password))
        row.set("no_proxy", .optional(proxy.exceptions))
        row.set("cookies", .number(cookies.rawValue))
        row.set("minimum_tls", .number(tls.minimum.rawValue))
        row.set("client_certificate", .optional(tls.clientCertificate))
        row.set("client_key", .optional(tls.clientKey))
        row.set("pinned_public_keys", .optional(tls.pinnedPublicKeys))
        row.set("history_limit", .optional(historyLimit))
        constraints.write(to: &row)
        row.set("slow_after_ms", .number(slowAfterMilliseconds))
        row.set("slow_pause_ms", .number(slowPauseMilliseconds))
        row.set("discretionary_if_launched", .flag(isDiscretionaryIfLaunched))
        row.set("daily_budget", .bits(budget.daily))
        row.set("monthly_budget", .bits(budget.monthly))
        row.set("tolerances", .number(tolerances.rawValue))
    }
}

/// The columns of `sessions` and `constraints` for constraints.
extension Constraints {
    init(row: inout Row) {
        self.init()
        preset = row.optionalNumber("preset").flatMap(ConstraintPreset.init)
        requiresExternalPower = row.optionalFlag("requires_external_power")
        requiresUnmetered = row.optionalFlag("requires_unmetered")
        networks = row.optionalNumber("networks").map(NetworkKinds.init)
        minimumBatteryPercent = row.optionalNumber("minimum_battery_percent")
        maximumThermalState = row.optionalNumber("maximum_thermal_state").flatMap(ThermalState.init)
        maximumCPUPressurePercent = row.optionalNumber("maximum_cpu_pressure_percent")
        maximumIOPressurePercent = row.optionalNumber("maximum_io_pressure_percent")
        maximumMemoryPressurePercent = row.optionalNumber("maximum_memory_pressure_percent")
        minimumBytesPerSecond = row.optionalBits("minimum_bytes_per_second")
        quietHours = row.optionalText("quiet_hours").flatMap(QuietHours.init)
    }

    func write(to row: inout NewRow) {
        row.set("preset", .optional(preset?.rawValue))
        row.set("requires_external_power", .optional(requiresExternalPower))
        row.set("requires_unmetered", .optional(requiresUnmetered))
        row.set("networks", .optional(networks?.rawValue))
        row.set("minimum_battery_percent", .optional(minimumBatteryPercent))
        row.set("maximum_thermal_state", .optional(maximumThermalState?.rawValue))
        row.set("maximum_cpu_pressure_percent", .optional(maximumCPUPressurePercent))
        row.set("maximum_io_pressure_percent", .optional(maximumIOPressurePercent))
        row.set("maximum_memory_pressure_percent", .optional(maximumMemoryPressurePercent))
        row.set("minimum_bytes_per_second", .bits(minimumBytesPerSecond))
        row.set("quiet_hours", .optional(quietHours?.text))
    }
}
