import BackhaulModel
import CBackhaul
import Glibc
import Testing

/// A field of `bh_session_configuration`, the settings of a session. `give` sets the field in this C struct, which a
/// host (a process that uses the library) passes. `expect` sets the expected value in the configuration that the
/// library reads from the struct.
struct ConfigurationField: CustomTestStringConvertible, Sendable {
    typealias Given = bh_session_configuration
    typealias Give = @Sendable (inout Given, HostMemory) -> Void
    typealias Expect = @Sendable (inout SessionConfiguration) -> Void

    /// The names of the field in the header. An array has a second name, for its count.
    let names: [String]
    let give: Give
    let expect: Expect

    var testDescription: String { names[0] }

    private init(_ names: String..., give: @escaping Give, expect: @escaping Expect) {
        self.names = names
        self.give = give
        self.expect = expect
    }

    private init<Number: BinaryInteger & Sendable>(
        _ name: String, _ field: any WritableKeyPath<Given, Number> & Sendable, _ number: Number,
        _ expect: @escaping Expect
    ) {
        self.init(name, give: { given, _ in given[keyPath: field] = number }, expect: expect)
    }

    private init(
        _ name: String, _ field: any WritableKeyPath<Given, UnsafePointer<CChar>?> & Sendable, _ text: String,
        _ expect: @escaping Expect
    ) {
        self.init(name, give: { given, memory in given[keyPath: field] = memory.text(text) }, expect: expect)
    }

    /// All fields. A test can set one field of this list, or all fields together.
    static let all = identity + retries + requests + connections + constraints

    private static let pin = "sha256//" + String(repeating: "A", count: 43) + "="

    private static let identity = [
        ConfigurationField("identifier", \.identifier, "other") { $0.identifier = "other" },
        ConfigurationField("connections_per_origin", \.connections_per_origin, 2) { $0.connectionsPerOrigin = 2 },
        ConfigurationField("maximum_running_tasks", \.maximum_running_tasks, 3) { $0.maximumRunningTasks = 3 },
        ConfigurationField("sends_launch_events", \.sends_launch_events, Int32(BH_NO)) {
            $0.sendsLaunchEvents = false
        },
        ConfigurationField("asks_for_credentials", \.asks_for_credentials, Int32(BH_YES)) {
            $0.asksForCredentials = true
        },
        ConfigurationField("launch_if_stopped_ms", \.launch_if_stopped_ms, 4) { $0.launchIfStoppedMilliseconds = 4 },
        ConfigurationField("history_limit", \.history_limit, 5) { $0.historyLimit = 5 },
    ]

    private static let retries = [
        ConfigurationField("retry.maximum_attempts", \.retry.maximum_attempts, 6) { $0.maximumAttempts = 6 },
        ConfigurationField("retry.first_delay_ms", \.retry.first_delay_ms, 7) { $0.firstRetryDelayMilliseconds = 7 },
        ConfigurationField("retry.longest_delay_ms", \.retry.longest_delay_ms, 8_000) {
            $0.longestRetryDelayMilliseconds = 8_000
        },
        ConfigurationField("rules.request_timeout_ms", \.rules.request_timeout_ms, 9) {
            $0.requestTimeoutMilliseconds = 9
        },
        ConfigurationField("rules.resource_timeout_ms", \.rules.resource_timeout_ms, 10) {
            $0.resourceTimeoutMilliseconds = 10
        },
        ConfigurationField("retry.jitter_percent", \.retry.jitter_percent, 11) { $0.retryJitterPercent = 11 },
        ConfigurationField("retry.errors", \.retry.errors, UInt32(BH_RETRY_LOST | BH_RETRY_BAD_RESPONSE)) {
            $0.retryErrors = [.lost, .badResponse]
        },
        ConfigurationField("retry.unsafe_methods", \.retry.unsafe_methods, Int32(BH_YES)) {
            $0.retriesUnsafeMethods = true
        },
        ConfigurationField("retry.statuses", \.retry.statuses, "500-501,503") {
            if let statuses = StatusList("500-501,503") { $0.retryStatuses = statuses }
        },
    ]

    private static let requests = [
        ConfigurationField("rules.accepted_statuses", \.rules.accepted_statuses, "200,404") {
            if let statuses = StatusList("200,404") { $0.acceptedStatuses = statuses }
        },
        ConfigurationField("rules.http_version", \.rules.http_version, Int32(BH_HTTP_2_PRIOR_KNOWLEDGE)) {
            $0.httpVersion = .http2PriorKnowledge
        },
        ConfigurationField("rules.redirects", \.rules.redirects, Int32(BH_REDIRECTS_SAME_ORIGIN)) {
            $0.redirects = .sameOrigin
        },
        ConfigurationField("rules.maximum_redirects", \.rules.maximum_redirects, 12) { $0.maximumRedirects = 12 },
        ConfigurationField("rules.maximum_size", \.rules.maximum_size, 13) { $0.maximumSize = 13 },
        ConfigurationField(
            "headers", "header_count",
            give: { given, memory in
                given.headers = memory.headers([("Accept", "image/png"), ("X-Empty", "")])
                given.header_count = 2
            },
            expect: { $0.headers = [HeaderField("Accept", "image/png"), HeaderField("X-Empty", "")] }),
        ConfigurationField("bytes_per_second", \.bytes_per_second, 14) { $0.bytesPerSecond = 14 },
        ConfigurationField("cookies", \.cookies, Int32(BH_COOKIES_PERSISTENT)) { $0.cookies = .persistent },
        ConfigurationField(
            "tolerances", \.tolerances, UInt32(BH_TOLERATE_MISSING_CLOSE_NOTIFY | BH_TOLERATE_EARLY_RESPONSE)
        ) {
            $0.tolerances = [.missingCloseNotify, .earlyResponse]
        },
        ConfigurationField("budget.daily", \.budget.daily, 15) { $0.budget.daily = 15 },
        ConfigurationField("budget.monthly", \.budget.monthly, .max) { $0.budget.monthly = 0 },
    ]

    private static let connections = [
        ConfigurationField("proxy.url", \.proxy.url, "socks5h://proxy.example:1080") {
            $0.proxy.url = "socks5h://proxy.example:1080"
        },
        ConfigurationField("proxy.user", \.proxy.user, "ann") { $0.proxy.user = "ann" },
        ConfigurationField(
            "proxy.password",
            give: { given, memory in
                // A password without a user is refused.
                given.proxy.user = memory.text("ann")
                given.proxy.password = memory.text("secret")
            },
            expect: {
                $0.proxy.user = "ann"
                $0.proxy.password = "secret"
            }),
        ConfigurationField("proxy.bypass", \.proxy.bypass, "localhost,.example") {
            $0.proxy.exceptions = "localhost,.example"
        },
        ConfigurationField("tls.ca_file", \.tls.ca_file, "/etc/ca.pem") { $0.caFile = "/etc/ca.pem" },
        ConfigurationField("tls.minimum_version", \.tls.minimum_version, Int32(BH_TLS_1_3)) { $0.tls.minimum = .tls13 },
        ConfigurationField("tls.client_certificate", \.tls.client_certificate, "/etc/client.pem") {
            $0.tls.clientCertificate = "/etc/client.pem"
        },
        ConfigurationField(
            "tls.client_key",
            give: { given, memory in
                // A key without a certificate is refused.
                given.tls.client_certificate = memory.text("/etc/client.pem")
                given.tls.client_key = memory.text("/etc/key.pem")
            },
            expect: {
                $0.tls.clientCertificate = "/etc/client.pem"
                $0.tls.clientKey = "/etc/key.pem"
            }),
        ConfigurationField("tls.pinned_public_keys", \.tls.pinned_public_keys, pin) { $0.tls.pinnedPublicKeys = pin },
    ]

    private static let constraints = [
        ConfigurationField("constraints.preset", \.constraints.preset, Int32(BH_PRESET_OVERNIGHT)) {
            $0.constraints.preset = .overnight
        },
        ConfigurationField(
            "constraints.requires_external_power", \.constraints.requires_external_power, Int32(BH_YES)
        ) {
            $0.constraints.requiresExternalPower = true
        },
        ConfigurationField("constraints.requires_unmetered", \.constraints.requires_unmetered, Int32(BH_NO)) {
            $0.constraints.requiresUnmetered = false
        },
        ConfigurationField(
            "constraints.networks", \.constraints.networks, UInt32(BH_NETWORK_WIFI | BH_NETWORK_TUNNEL)
        ) {
            $0.constraints.networks = [.wifi, .tunnel]
        },
        ConfigurationField("constraints.minimum_battery_percent", \.constraints.minimum_battery_percent, 16) {
            $0.constraints.minimumBatteryPercent = 16
        },
        ConfigurationField(
            "constraints.maximum_thermal_state", \.constraints.maximum_thermal_state, Int32(BH_THERMAL_FAIR)
        ) {
            $0.constraints.maximumThermalState = .fair
        },
        ConfigurationField("constraints.maximum_cpu_pressure_percent", \.constraints.maximum_cpu_pressure_percent, 17) {
            $0.constraints.maximumCPUPressurePercent = 17
        },
        ConfigurationField("constraints.maximum_io_pressure_percent", \.constraints.maximum_io_pressure_percent, 18) {
            $0.constraints.maximumIOPressurePercent = 18
        },
        ConfigurationField(
            "constraints.maximum_memory_pressure_percent", \.constraints.maximum_memory_pressure_percent, 19
        ) {
            $0.constraints.maximumMemoryPressurePercent = 19
        },
        ConfigurationField("constraints.minimum_bytes_per_second", \.constraints.minimum_bytes_per_second, 20) {
            $0.constraints.minimumBytesPerSecond = 20
        },
        ConfigurationField("constraints.quiet_hours", \.constraints.quiet_hours, "22:00-06:30") {
            $0.constraints.quietHours = QuietHours("22:00-06:30")
        },
        ConfigurationField("slow_after_ms", \.slow_after_ms, 21_000) { $0.slowAfterMilliseconds = 21_000 },
        ConfigurationField("slow_pause_ms", \.slow_pause_ms, 22_000) { $0.slowPauseMilliseconds = 22_000 },
        ConfigurationField("discretionary_if_launched", \.discretionary_if_launched, Int32(BH_YES)) {
            $0.isDiscretionaryIfLaunched = true
        },
    ]
}

/// The memory to which a host's structs point. `deinit` frees this memory.
final class HostMemory {
    private var texts: [UnsafeMutablePointer<CChar>] = []
    private var arrays: [UnsafeMutablePointer<bh_header>] = []

    deinit {
        for text in texts { free(text) }
        for array in arrays { array.deallocate() }
    }

    func text(_ text: String) -> UnsafePointer<CChar>? {
        guard let copy = strdup(text) else { return nil }
        texts.append(copy)
        return UnsafePointer(copy)
    }

    func headers(_ fields: [(name: String, value: String)]) -> UnsafePointer<bh_header> {
        let array = UnsafeMutablePointer<bh_header>.allocate(capacity: fields.count)
        for (index, field) in fields.enumerated() {
            (array + index).initialize(to: bh_header(name: text(field.name), value: text(field.value)))
        }
        arrays.append(array)
        return UnsafePointer(array)
    }
}
