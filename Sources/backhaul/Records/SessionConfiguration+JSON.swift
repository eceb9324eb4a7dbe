import Backhaul

extension SessionConfiguration {
    /// The configuration without secrets, so that no command shows them.
    var json: JSON {
        .record(
            "bh_session_configuration",
            [
                ("identifier", .string(identifier)), ("retry", retry.json), ("rules", rules.json),
                ("constraints", constraints.json), ("tls", tls.json), ("proxy", proxy.json), ("budget", budget.json),
                ("bytes_per_second", .number(bytesPerSecond)), ("header_names", .strings(headers.map(\.name))),
                ("connections_per_origin", .number(connectionsPerOrigin)),
                ("maximum_running_tasks", .number(maximumRunningTasks)),
                ("history_limit", .number(historyLimit?.count)),
                ("cookies", .word(cookies)), ("tolerances", .strings(tolerances.members)),
                ("sends_launch_events", .choice(sendsLaunchEvents)),
                ("asks_for_credentials", .choice(asksForCredentials)),
                ("discretionary_if_launched", .choice(isDiscretionaryIfLaunched)),
                ("launch_if_stopped_ms", .milliseconds(launchIfStopped)), ("slow_after_ms", .milliseconds(slowAfter)),
                ("slow_pause_ms", .milliseconds(slowPause)),
            ])
    }
}

extension HistoryLimit {
    fileprivate var count: Int {
        switch self {
        case .noTasks: 0
        case .tasks(let count): count
        }
    }
}

extension RetryPolicy {
    fileprivate var json: JSON {
        .record(
            "bh_retry_policy",
            [
                ("maximum_attempts", .number(maximumAttempts)), ("first_delay_ms", .milliseconds(firstDelay)),
                ("longest_delay_ms", .milliseconds(longestDelay)), ("jitter_percent", .number(jitterPercent)),
                ("errors", .strings(errors.map { $0.isEmpty ? [$0.word] : $0.members } ?? [])),
                ("unsafe_methods", .choice(unsafeMethods)), ("statuses", .optional(statuses)),
            ])
    }
}

extension TransferRules {
    fileprivate var json: JSON {
        .record(
            "bh_transfer_rules",
            [
                ("request_timeout_ms", .milliseconds(requestTimeout)),
                ("http_version", .string(httpVersion?.word ?? "default")),
                ("resource_timeout_ms", .milliseconds(resourceTimeout)), ("redirects", .word(redirects)),
                ("maximum_redirects", .number(maximumRedirects)), ("accepted_statuses", .optional(acceptedStatuses)),
                ("maximum_size", .number(maximumSize)),
            ])
    }
}

extension TLS {
    fileprivate var json: JSON {
        .record(
            "bh_tls_settings",
            [
                ("ca_file", .optional(caFile)), ("client_certificate", .optional(clientCertificate)),
                ("client_key", .optional(clientKey)), ("pinned_public_keys", .optional(pinnedPublicKeys)),
                ("minimum_version", .word(minimumVersion)),
            ])
    }
}

extension Proxy {
    fileprivate var json: JSON {
        .record(
            "bh_proxy_settings",
            [
                ("url", .optional(url)), ("user", .optional(user)), ("bypass", .optional(bypass)),
            ])
    }
}
