internal import BackhaulModel
internal import CBackhaul

// This file lists the fields of a session's configuration and of a request's policy. In each line, the first argument
// is the field of the C struct, and the second argument is the field of the Swift value.

extension FieldExchange {
    /// The size that `bh_session_configuration` has in the first version of the C header.
    static let configurationSize = StructArgument.end(of: \bh_session_configuration.reserved)

    /// Copies all fields except `identifier`.
    mutating func fields(
        _ given: inout bh_session_configuration, _ value: inout SessionConfiguration
    ) throws(Failure) {
        try StructArgument.checkReserved(UInt64(given.reserved), in: "configuration")
        try fields(&given.retry, &given.rules, &given.constraints, &given.bytes_per_second, &value.policy)
        value.policy.fillDefaults()
        try fields(&given.tls, &value)
        try fields(&given.proxy, &value.proxy)
        budget(&given.budget, &value.budget)
        try headers(&given.headers, &given.header_count, &value.headers)
        field(&given.connections_per_origin, &value.connectionsPerOrigin)
        field(&given.maximum_running_tasks, &value.maximumRunningTasks)
        field(&given.history_limit, &value.historyLimit, nilIs: UInt32.max)
        try code(&given.cookies, &value.cookies, "cookies", of: "one of BH_COOKIES_…")
        field(&given.tolerances, &value.tolerances)
        try choice(&given.sends_launch_events, &value.sendsLaunchEvents, "sends_launch_events")
        try choice(&given.asks_for_credentials, &value.asksForCredentials, "asks_for_credentials")
        try choice(&given.discretionary_if_launched, &value.isDiscretionaryIfLaunched, "discretionary_if_launched")
        field(&given.launch_if_stopped_ms, &value.launchIfStoppedMilliseconds)
        field(&given.slow_after_ms, &value.slowAfterMilliseconds)
        field(&given.slow_pause_ms, &value.slowPauseMilliseconds)
    }

    /// Copies the fields that a policy and a configuration share.
    mutating func fields(
        _ retry: inout bh_retry_policy, _ rules: inout bh_transfer_rules, _ constraints: inout bh_constraints,
        _ bytesPerSecond: inout UInt64, _ value: inout TaskPolicy
    ) throws(Failure) {
        try StructArgument.checkReserved(retry.reserved.0, retry.reserved.1, in: "retry")
        try StructArgument.checkReserved(UInt64(rules.reserved_number), in: "rules")
        field(&retry.maximum_attempts, &value.maximumAttempts)
        field(&retry.first_delay_ms, &value.firstRetryDelayMilliseconds)
        field(&retry.longest_delay_ms, &value.longestRetryDelayMilliseconds)
        field(&retry.jitter_percent, &value.retryJitterPercent)
        field(&retry.errors, &value.retryErrors)
        try choice(&retry.unsafe_methods, &value.retriesUnsafeMethods, "retry.unsafe_methods")
        try statuses(&retry.statuses, &value.retryStatuses, "retry.statuses")
        try statuses(&rules.accepted_statuses, &value.acceptedStatuses, "accepted_statuses")
        field(&rules.request_timeout_ms, &value.requestTimeoutMilliseconds)
        field(&rules.resource_timeout_ms, &value.resourceTimeoutMilliseconds)
        try code(&rules.http_version, &value.httpVersion, "http_version", of: "one of BH_HTTP_…")
        try code(&rules.redirects, &value.redirects, "redirects", of: "one of BH_REDIRECTS_…")
        field(&rules.maximum_redirects, &value.maximumRedirects)
        field(&rules.maximum_size, &value.maximumSize)
        try text(&rules.accepted_types, &value.acceptedTypes, "accepted_types")
        try choice(
            &rules.refuses_private_addresses, &value.refusesPrivateAddresses, "rules.refuses_private_addresses")
        try code(
            &rules.resumable_uploads, &value.resumableUploads, "resumable_uploads",
            of: "one of BH_RESUMABLE_UPLOADS_…")
        try text(&rules.s3_endpoint, &value.s3Endpoint, "s3_endpoint")
        try text(&rules.s3_region, &value.s3Region, "s3_region")
        try text(&rules.s3_profile, &value.s3Profile, "s3_profile")
        try text(&rules.s3_credential_command, &value.s3CredentialCommand, "s3_credential_command")
        try choice(&rules.s3_path_style, &value.s3PathStyle, "rules.s3_path_style")
        field(&bytesPerSecond, &value.bytesPerSecond)
        try fields(&constraints, &value.constraints)
    }

    mutating func fields(_ given: inout bh_constraints, _ value: inout Constraints) throws(Failure) {
        try StructArgument.checkReserved(
            UInt64(given.reserved_number), given.reserved.0, given.reserved.1, in: "constraints")
        try code(&given.preset, &value.preset, "preset", of: "one of BH_PRESET_…")
        try choice(&given.requires_external_power, &value.requiresExternalPower, "requires_external_power")
        try choice(&given.requires_unmetered, &value.requiresUnmetered, "requires_unmetered")
        field(&given.networks, &value.networks)
        try percent(&given.minimum_battery_percent, &value.minimumBatteryPercent, "minimum_battery_percent")
        try code(
            &given.maximum_thermal_state, &value.maximumThermalState, "maximum_thermal_state",
            of: "one of BH_THERMAL_…")
        try percent(
            &given.maximum_cpu_pressure_percent, &value.maximumCPUPressurePercent, "maximum_cpu_pressure_percent")
        try percent(
            &given.maximum_io_pressure_percent, &value.maximumIOPressurePercent, "maximum_io_pressure_percent")
        try percent(
            &given.maximum_memory_pressure_percent, &value.maximumMemoryPressurePercent,
            "maximum_memory_pressure_percent")
        field(&given.minimum_bytes_per_second, &value.minimumBytesPerSecond)
        try hours(&given.quiet_hours, &value.quietHours, "quiet_hours")
    }

    private mutating func fields(
        _ given: inout bh_tls_settings, _ value: inout SessionConfiguration
    ) throws(Failure) {
        try StructArgument.checkReserved(UInt64(given.reserved_number), given.reserved.0, given.reserved.1, in: "tls")
        try text(&given.ca_file, &value.caFile, "ca_file")
        try text(&given.client_certificate, &value.tls.clientCertificate, "client_certificate")
        try text(&given.client_key, &value.tls.clientKey, "client_key")
        try text(&given.pinned_public_keys, &value.tls.pinnedPublicKeys, "pinned_public_keys")
        try code(&given.minimum_version, &value.tls.minimum, "tls.minimum_version", of: "BH_TLS_1_2 or BH_TLS_1_3")
    }

    private mutating func fields(
        _ given: inout bh_proxy_settings, _ value: inout ProxyConfiguration
    ) throws(Failure) {
        try StructArgument.checkReserved(given.reserved.0, given.reserved.1, in: "proxy")
        try text(&given.url, &value.url, "proxy.url")
        try text(&given.user, &value.user, "proxy.user")
        try text(&given.password, &value.password, "proxy.password")
        try text(&given.bypass, &value.exceptions, "proxy.bypass")
    }
}
