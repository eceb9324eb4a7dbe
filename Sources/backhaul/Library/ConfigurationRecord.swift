import CBackhaul

// Unsafe: pointers into a batch, which lives while its items are copied.

/// A copy of what is remembered with a session. It holds no secret, so that none is shown.
struct ConfigurationRecord {
    /// Under the header's names.
    private let members: [(String, JSON)]

    init(_ configuration: bh_session_configuration) {
        func number(_ value: UInt64) -> JSON { value == 0 ? .null : .unsigned(value) }
        func choice(_ value: Int32) -> JSON { .bool(Int(value) == BH_YES) }
        func words(_ bits: UInt32, _ table: [(String, Int)]) -> JSON {
            .array(Names.words(bits, table).map { .string($0) })
        }
        let headers = UnsafeBufferPointer(
            start: configuration.headers, count: configuration.headers == nil ? 0 : configuration.header_count)
        members = [
            ("identifier", .optional(text(configuration.identifier))),
            ("maximum_attempts", number(UInt64(configuration.retry.maximum_attempts))),
            ("first_retry_delay_ms", .unsigned(UInt64(configuration.retry.first_delay_ms))),
            ("longest_retry_delay_ms", .unsigned(UInt64(configuration.retry.longest_delay_ms))),
            ("retry_jitter_percent", .unsigned(UInt64(configuration.retry.jitter_percent))),
            ("retry_errors", words(configuration.retry.errors, Names.retryErrors)),
            ("retry_statuses", .optional(text(configuration.retry.statuses))),
            ("retries_unsafe_methods", choice(configuration.retry.unsafe_methods)),
            ("accepted_statuses", .optional(text(configuration.rules.accepted_statuses))),
            ("request_timeout_ms", .unsigned(UInt64(configuration.rules.request_timeout_ms))),
            ("resource_timeout_ms", .unsigned(configuration.rules.resource_timeout_ms)),
            ("http_version", .string(Names.word(configuration.rules.http_version, Names.httpVersions))),
            ("redirects", .string(Names.word(configuration.rules.redirects, Names.redirects))),
            ("maximum_redirects", .unsigned(UInt64(configuration.rules.maximum_redirects))),
            ("maximum_size", number(configuration.rules.maximum_size)),
            ("bytes_per_second", number(configuration.bytes_per_second)),
            ("header_names", .array(headers.map { .string(text($0.name) ?? "") })),
            ("proxy", .optional(text(configuration.proxy.url))),
            ("proxy_user", .optional(text(configuration.proxy.user))),
            ("no_proxy", .optional(text(configuration.proxy.bypass))),
            ("ca_file", .optional(text(configuration.tls.ca_file))),
            ("minimum_tls", .string(Int(configuration.tls.minimum_version) == BH_TLS_1_3 ? "tlsv1.3" : "tlsv1.2")),
            ("client_certificate", .optional(text(configuration.tls.client_certificate))),
            ("client_key", .optional(text(configuration.tls.client_key))),
            ("pinned_public_keys", .optional(text(configuration.tls.pinned_public_keys))),
            ("asks_for_credentials", choice(configuration.asks_for_credentials)),
            ("sends_launch_events", choice(configuration.sends_launch_events)),
            ("launch_if_stopped_ms", number(UInt64(configuration.launch_if_stopped_ms))),
        ] + ConstraintsRecord(configuration.constraints).members
            + SessionOptions.settings.map { ($0.field, $0.shown(configuration)) }
    }

    var json: JSON { .object(members) }

    /// Those that say something, for people.
    var lines: [(String, String)] { ConfigurationRecord.lines(members) }

    static func lines(_ members: [(String, JSON)]) -> [(String, String)] {
        members.compactMap { name, value in
            switch value {
            case .null: nil
            case .string(let text): (name, text)
            case .bool(let value): (name, value ? "yes" : "no")
            case .array(let items):
                items.isEmpty ? nil : (name, items.map { if case .string(let text) = $0 { text } else { "" } }
                    .joined(separator: ", "))
            default: (name, value.text)
            }
        }
    }
}
