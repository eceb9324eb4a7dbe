import CBackhaul

/// The structs of the C header that have the fields of a policy: the settings of a session (a named collection of
/// transfers), and those of one transfer.
protocol PolicyFields {
    var retry: bh_retry_policy { get set }
    var rules: bh_transfer_rules { get set }
    var constraints: bh_constraints { get set }
    var bytes_per_second: UInt64 { get set }
}

extension bh_policy: PolicyFields {}
extension bh_session_configuration: PolicyFields {}

/// The options for HTTP, limits and retries. `get`, `add` and `put` apply them to the new transfers, and `configure`
/// applies them to all transfers of the session. An empty value is the default: for a transfer, the session's setting.
struct PolicyOptions {
    static let descriptions = [
        OptionDescription("retry", nil, "NUMBER", "give up after this number of retries without progress"),
        OptionDescription(
            "attempts", nil, "NUMBER", "the same, but with the first attempt: --attempts 1 is --retry 0; 0: no limit"),
        OptionDescription("retry-delay", nil, "SECONDS", "the delay before the first retry; it doubles (1)"),
        OptionDescription("retry-max-delay", nil, "SECONDS", "the longest such delay (600)"),
        OptionDescription("retry-jitter", nil, "PERCENT", "how much of each delay is random (50)"),
        OptionDescription(
            "retry-errors", nil, "LIST",
            "the errors that are retried: name, connection, lost, timeout, tls, status, bad_response; or none"),
        OptionDescription("retry-status", nil, "LIST", "the statuses that are retried (408,425,429,500,502-504)"),
        OptionDescription("retry-unsafe", nil, nil, "retry POST and PATCH even if the server may have processed them"),
        OptionDescription("accept-status", nil, "LIST", "the statuses that mean success (200-299)"),
        OptionDescription("request-timeout", nil, "SECONDS", "the longest time without a byte (60)"),
        OptionDescription("max-time", "m", "SECONDS", "the longest time for the whole transfer, from now on (7 days)"),
        OptionDescription("http1.1", nil, nil, "use HTTP/1.1"),
        OptionDescription("http2", nil, nil, "use HTTP/2 over TLS, and HTTP/1.1 without TLS"),
        OptionDescription("http2-prior-knowledge", nil, nil, "use HTTP/2 without negotiation, even without TLS"),
        OptionDescription("redirects", nil, "follow|same_origin|none", "which redirects are followed (follow)"),
        OptionDescription("max-redirs", nil, "NUMBER", "how many redirects are followed (20); 0: none"),
        OptionDescription("max-filesize", nil, "BYTES", "fail for larger files, such as 500k, 10M or 2G"),
        OptionDescription("limit-rate", nil, "BYTES", "per second, sent and received, such as 500k, 10M or 2G"),
    ] + ConstraintOptions.descriptions

    private let attempts: UInt32?
    private let firstDelay: UInt32?
    private let longestDelay: UInt32?
    private let jitter: UInt32?
    private let retryErrors: UInt32?
    private let retryStatuses: String?
    private let unsafeMethods: Int32?
    private let acceptedStatuses: String?
    private let requestTimeout: UInt32?
    private let resourceTimeout: UInt64?
    private let version: Int32?
    private let redirects: Int32?
    private let redirectCount: UInt32?
    let largest: UInt64?
    private let rate: UInt64?
    private let constraints: ConstraintOptions

    let isGiven: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        let day = 86_400.0
        isGiven = PolicyOptions.descriptions.contains { arguments.changes($0.name) }
        attempts = try PolicyOptions.attempts(arguments)
        firstDelay = try arguments.durationSetting("retry-delay", upTo: day).map { UInt32($0) }
        longestDelay = try arguments.durationSetting("retry-max-delay", upTo: day).map { UInt32($0) }
        jitter = try arguments.setting("retry-jitter", in: 1...100)
        retryErrors = try arguments.bits("retry-errors", Names.retryErrors)
        retryStatuses = arguments.value("retry-status")
        unsafeMethods = arguments.isReset("retry-unsafe") ? 0 : arguments.has("retry-unsafe") ? Int32(BH_YES) : nil
        acceptedStatuses = arguments.value("accept-status")
        requestTimeout = try arguments.durationSetting("request-timeout", upTo: day).map { UInt32($0) }
        resourceTimeout = try arguments.durationSetting("max-time", upTo: 315_360_000)
        let versions = Names.httpVersions.filter { arguments.has($0.0) }
        guard versions.count <= 1 else { throw .usage("--\(versions[0].0) and --\(versions[1].0) exclude each other.") }
        let resetsVersion = Names.httpVersions.contains { arguments.isReset($0.0) }
        version = versions.first.map { Int32($0.1) } ?? (resetsVersion ? 0 : nil)
        let policy = try arguments.choice("redirects", Names.redirects)
        // 0 is a setting of `redirects`, because in `maximum_redirects` it is the default.
        let isNone = arguments.value("max-redirs") == "0"
        redirects = isNone ? Int32(BH_REDIRECTS_NONE) : policy
        redirectCount = isNone ? nil : try arguments.setting("max-redirs", in: 0...100)
        largest = try arguments.bytes("max-filesize")
        rate = try arguments.bytes("limit-rate")
        constraints = try ConstraintOptions(arguments)
    }

    private static func attempts(_ arguments: Arguments) throws(CommandError) -> UInt32? {
        if arguments.has("retry") && arguments.has("attempts") {
            throw .usage("--retry and --attempts exclude each other.")
        }
        if arguments.value("retry") == "" { return 0 }
        if let retries = try arguments.number("retry", in: 0...999_999) { return UInt32(retries) + 1 }
        return try arguments.setting("attempts", in: 0...1_000_000)
    }

    func policy(_ arena: CStringArena) -> bh_policy {
        var policy = bh_policy()
        policy.struct_size = MemoryLayout<bh_policy>.size
        change(&policy, arena)
        return policy
    }

    /// Changes the fields whose options are given. The other fields stay.
    func change<Fields: PolicyFields>(_ fields: inout Fields, _ arena: CStringArena) {
        if let attempts { fields.retry.maximum_attempts = attempts }
        if let firstDelay { fields.retry.first_delay_ms = firstDelay }
        if let longestDelay { fields.retry.longest_delay_ms = longestDelay }
        if let jitter { fields.retry.jitter_percent = jitter }
        if let retryErrors { fields.retry.errors = retryErrors }
        if let unsafeMethods { fields.retry.unsafe_methods = unsafeMethods }
        if let retryStatuses { fields.retry.statuses = arena.string(unlessEmpty: retryStatuses) }
        if let acceptedStatuses { fields.rules.accepted_statuses = arena.string(unlessEmpty: acceptedStatuses) }
        if let requestTimeout { fields.rules.request_timeout_ms = requestTimeout }
        if let resourceTimeout { fields.rules.resource_timeout_ms = resourceTimeout }
        if let version { fields.rules.http_version = version }
        if let redirectCount {
            fields.rules.maximum_redirects = redirectCount
            // An earlier --max-redirs 0 is taken back.
            if Int(fields.rules.redirects) == BH_REDIRECTS_NONE { fields.rules.redirects = 0 }
        }
        if let redirects { fields.rules.redirects = redirects }
        if let largest { fields.rules.maximum_size = largest }
        if let rate { fields.bytes_per_second = rate }
        constraints.change(&fields.constraints, arena)
    }
}
