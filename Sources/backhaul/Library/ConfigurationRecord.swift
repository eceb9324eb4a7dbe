import CBackhaul

// Unsafe: the pointers point into a batch (a list that the library has returned), which is released after its items are
// copied.

/// A copy of the configuration of a session (a named collection of transfers) as JSON. The copy has no secrets, so no
/// command shows them.
struct ConfigurationRecord {
    let json: JSON

    init(_ session: bh_session_configuration) {
        let headers = UnsafeBufferPointer(
            start: session.headers, count: session.headers == nil ? 0 : session.header_count)
        json = .record(of: bh_session_configuration.self, [
            ("identifier", .optional(text(session.identifier))),
            ("retry", ConfigurationRecord.json(session.retry)), ("rules", ConfigurationRecord.json(session.rules)),
            ("constraints", ConstraintsRecord(session.constraints).json),
            ("tls", ConfigurationRecord.json(session.tls)), ("proxy", ConfigurationRecord.json(session.proxy)),
            ("budget", Budget.json(session.budget)),
            ("bytes_per_second", .number(unlessZero: session.bytes_per_second)),
            ("header_names", .strings(headers.map { text($0.name) ?? "" })),
            ("connections_per_origin", .number(session.connections_per_origin)),
            ("maximum_running_tasks", .number(session.maximum_running_tasks)),
            ("history_limit", .number(session.history_limit == UInt32.max ? 0 : session.history_limit)),
            ("cookies", .word(session.cookies, Names.cookies)),
            ("tolerances", .words(session.tolerances, Names.tolerances)),
            ("sends_launch_events", .choice(session.sends_launch_events)),
            ("asks_for_credentials", .choice(session.asks_for_credentials)),
            ("discretionary_if_launched", .choice(session.discretionary_if_launched)),
            ("launch_if_stopped_ms", .number(unlessZero: session.launch_if_stopped_ms)),
            ("slow_after_ms", .number(session.slow_after_ms)), ("slow_pause_ms", .number(session.slow_pause_ms)),
        ])
    }

    private static func json(_ retry: bh_retry_policy) -> JSON {
        .record(of: bh_retry_policy.self, [
            ("maximum_attempts", .number(unlessZero: retry.maximum_attempts)),
            ("first_delay_ms", .number(retry.first_delay_ms)), ("longest_delay_ms", .number(retry.longest_delay_ms)),
            ("jitter_percent", .number(retry.jitter_percent)), ("errors", .words(retry.errors, Names.retryErrors)),
            ("unsafe_methods", .choice(retry.unsafe_methods)), ("statuses", .optional(text(retry.statuses))),
        ])
    }

    private static func json(_ rules: bh_transfer_rules) -> JSON {
        .record(of: bh_transfer_rules.self, [
            ("request_timeout_ms", .number(rules.request_timeout_ms)),
            ("http_version", .word(rules.http_version, Names.httpVersions)),
            ("resource_timeout_ms", .number(rules.resource_timeout_ms)),
            ("redirects", .word(rules.redirects, Names.redirects)),
            ("maximum_redirects", .number(rules.maximum_redirects)),
            ("accepted_statuses", .optional(text(rules.accepted_statuses))),
            ("maximum_size", .number(unlessZero: rules.maximum_size)),
        ])
    }

    private static func json(_ tls: bh_tls_settings) -> JSON {
        .record(of: bh_tls_settings.self, [
            ("ca_file", .optional(text(tls.ca_file))), ("client_certificate", .optional(text(tls.client_certificate))),
            ("client_key", .optional(text(tls.client_key))),
            ("pinned_public_keys", .optional(text(tls.pinned_public_keys))),
            ("minimum_version", .word(tls.minimum_version, Names.tlsVersions)),
        ])
    }

    private static func json(_ proxy: bh_proxy_settings) -> JSON {
        .record(of: bh_proxy_settings.self, [
            ("url", .optional(text(proxy.url))), ("user", .optional(text(proxy.user))),
            ("bypass", .optional(text(proxy.bypass))),
        ])
    }
}
