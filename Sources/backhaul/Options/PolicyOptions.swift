import CBackhaul

/// The options for HTTP, limits and retries. `get`, `add` and `put` apply them to the new transfers, and `configure`
/// applies them to all transfers of the session, a named collection of transfers.
struct PolicyOptions {
    static let descriptions = [
        OptionDescription("retry", nil, "NUMBER", "give up after this number of retries without progress"),
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
        OptionDescription("http2", nil, nil, "use HTTP/2; without TLS by an upgrade"),
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
    private let retriesUnsafe: Bool
    private let acceptedStatuses: String?
    private let requestTimeout: UInt32?
    private let resourceTimeout: UInt64?
    private let version: Int32?
    private let redirects: Int32?
    private let redirectCount: UInt32?
    private let largest: UInt64?
    private let rate: UInt64?
    private let constraints: ConstraintOptions

    let isGiven: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        let day = 86_400.0
        isGiven = PolicyOptions.descriptions.contains { arguments.has($0.name) }
        attempts = try arguments.number("retry", in: 0...1_000_000).map { UInt32($0) + 1 }
        firstDelay = try arguments.milliseconds("retry-delay", upTo: day).map { UInt32($0) }
        longestDelay = try arguments.milliseconds("retry-max-delay", upTo: day).map { UInt32($0) }
        jitter = try arguments.number("retry-jitter", in: 1...100).map { UInt32($0) }
        retryErrors = try arguments.bits("retry-errors", Names.retryErrors)
        retryStatuses = arguments.value("retry-status")
        retriesUnsafe = arguments.has("retry-unsafe")
        acceptedStatuses = arguments.value("accept-status")
        requestTimeout = try arguments.milliseconds("request-timeout", upTo: day).map { UInt32($0) }
        resourceTimeout = try arguments.milliseconds("max-time")
        let versions = Names.httpVersions.filter { arguments.has($0.0) }
        guard versions.count <= 1 else { throw .usage("--\(versions[0].0) and --\(versions[1].0) exclude each other.") }
        version = versions.first.map { Int32($0.1) }
        let count = try arguments.number("max-redirs", in: 0...100)
        let policy = try arguments.choice("redirects", Names.redirects)
        redirects = count == 0 ? Int32(BH_REDIRECTS_NONE) : policy
        redirectCount = count == 0 ? nil : count.map { UInt32($0) }
        largest = try arguments.bytes("max-filesize")
        rate = try arguments.bytes("limit-rate")
        constraints = try ConstraintOptions(arguments)
    }

    func policy(_ arena: CStringArena) -> bh_policy {
        var policy = bh_policy()
        policy.struct_size = MemoryLayout<bh_policy>.size
        policy.retry.maximum_attempts = attempts ?? 0
        policy.retry.first_delay_ms = firstDelay ?? 0
        policy.retry.longest_delay_ms = longestDelay ?? 0
        policy.retry.jitter_percent = jitter ?? 0
        policy.retry.errors = retryErrors ?? 0
        policy.retry.unsafe_methods = retriesUnsafe ? Int32(BH_YES) : 0
        policy.retry.statuses = arena.optionalString(retryStatuses)
        policy.rules.accepted_statuses = arena.optionalString(acceptedStatuses)
        policy.rules.request_timeout_ms = requestTimeout ?? 0
        policy.rules.resource_timeout_ms = resourceTimeout ?? 0
        policy.rules.http_version = version ?? 0
        policy.rules.redirects = redirects ?? 0
        policy.rules.maximum_redirects = redirectCount ?? 0
        policy.rules.maximum_size = largest ?? 0
        policy.bytes_per_second = rate ?? 0
        constraints.change(&policy.constraints, arena)
        return policy
    }

    /// Changes the fields whose options are given. The other fields stay.
    func change(_ session: inout bh_session_configuration, _ arena: CStringArena) {
        if let attempts { session.retry.maximum_attempts = attempts }
        if let firstDelay { session.retry.first_delay_ms = firstDelay }
        if let longestDelay { session.retry.longest_delay_ms = longestDelay }
        if let jitter { session.retry.jitter_percent = jitter }
        if let retryErrors { session.retry.errors = retryErrors }
        if retriesUnsafe { session.retry.unsafe_methods = Int32(BH_YES) }
        if let retryStatuses { session.retry.statuses = arena.string(unlessEmpty: retryStatuses) }
        if let acceptedStatuses { session.rules.accepted_statuses = arena.string(unlessEmpty: acceptedStatuses) }
        if let requestTimeout { session.rules.request_timeout_ms = requestTimeout }
        if let resourceTimeout { session.rules.resource_timeout_ms = resourceTimeout }
        if let version { session.rules.http_version = version }
        if let redirects { session.rules.redirects = redirects }
        if let redirectCount { session.rules.maximum_redirects = redirectCount }
        if let largest { session.rules.maximum_size = largest }
        if let rate { session.bytes_per_second = rate }
        constraints.change(&session.constraints, arena)
    }
}
