import Backhaul

/// The types that have the settings of a policy: the configuration of a session, and the policy of one transfer.
protocol PolicySettings {
    var retry: RetryPolicy { get set }
    var rules: TransferRules { get set }
    var constraints: Constraints { get set }
    var bytesPerSecond: UInt64? { get set }
}

extension Policy: PolicySettings {}
extension SessionConfiguration: PolicySettings {}

/// The options for HTTP, limits and retries. `get`, `add` and `put` apply them to the new transfers, and `configure`
/// applies them to all transfers of the session. An empty value is the default: for a transfer, the session's setting.
struct PolicyOptions {
    static let descriptions =
        [
            OptionDescription("retry", nil, "NUMBER", "give up after this number of retries without progress"),
            OptionDescription(
                "attempts", nil, "NUMBER",
                "the same, but with the first attempt: --attempts 1 is --retry 0; 0: no limit"),
            OptionDescription("retry-delay", nil, "SECONDS", "the delay before the first retry; it doubles (1)"),
            OptionDescription("retry-max-delay", nil, "SECONDS", "the longest such delay (600)"),
            OptionDescription("retry-jitter", nil, "PERCENT", "how much of each delay is random (50)"),
            OptionDescription(
                "retry-errors", nil, "LIST",
                "the errors that are retried: name, connection, lost, timeout, tls, status, bad_response; or none"),
            OptionDescription("retry-status", nil, "LIST", "the statuses that are retried (408,425,429,500,502-504)"),
            OptionDescription(
                "retry-unsafe", nil, nil, "retry POST and PATCH even if the server may have processed them"),
            OptionDescription("accept-status", nil, "LIST", "the statuses that mean success (200-299)"),
            OptionDescription("request-timeout", nil, "SECONDS", "the longest time without a byte (60)"),
            OptionDescription(
                "max-time", "m", "SECONDS", "the longest time for the whole transfer, from now on (7 days)"),
            OptionDescription("http1.1", nil, nil, "use HTTP/1.1"),
            OptionDescription("http2", nil, nil, "use HTTP/2 over TLS, and HTTP/1.1 without TLS"),
            OptionDescription("http2-prior-knowledge", nil, nil, "use HTTP/2 without negotiation, even without TLS"),
            OptionDescription("redirects", nil, "follow|same_origin|none", "which redirects are followed (follow)"),
            OptionDescription("max-redirs", nil, "NUMBER", "how many redirects are followed (20); 0: none"),
            OptionDescription("max-filesize", nil, "BYTES", "fail for larger files, such as 500k, 10M or 2G"),
            OptionDescription("limit-rate", nil, "BYTES", "per second, sent and received, such as 500k, 10M or 2G"),
        ] + ConstraintOptions.descriptions

    private let attempts: Int??
    private let firstDelay: Duration??
    private let longestDelay: Duration??
    private let jitter: Int??
    private let retryErrors: RetryErrors??
    private let retryStatuses: String?
    private let unsafeMethods: Bool??
    private let acceptedStatuses: String?
    private let requestTimeout: Duration??
    private let resourceTimeout: Duration??
    private let version: HTTPVersion??
    private let redirects: RedirectPolicy??
    private let redirectCount: Int??
    private let largest: UInt64??
    private let rate: UInt64??
    private let constraints: ConstraintOptions
    let isGiven: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        isGiven = PolicyOptions.descriptions.contains { arguments.changes($0.name) }
        attempts = try PolicyOptions.attempts(arguments)
        firstDelay = try arguments.durationSetting("retry-delay")
        longestDelay = try arguments.durationSetting("retry-max-delay")
        jitter = try arguments.setting("retry-jitter", in: 1...100)
        retryErrors = try arguments.set("retry-errors", RetryErrors.self)
        retryStatuses = arguments.value("retry-status")
        unsafeMethods = arguments.isReset("retry-unsafe") ? .some(nil) : arguments.has("retry-unsafe") ? true : nil
        acceptedStatuses = arguments.value("accept-status")
        requestTimeout = try arguments.durationSetting("request-timeout")
        resourceTimeout = try arguments.durationSetting("max-time", upTo: 315_360_000)
        let versions = HTTPVersion.words.filter { arguments.has($0.word) }
        guard versions.count <= 1 else {
            throw .usage("--\(versions[0].word) and --\(versions[1].word) exclude each other")
        }
        let resetsVersion = HTTPVersion.words.contains { arguments.isReset($0.word) }
        version = if let first = versions.first { first.value } else { resetsVersion ? .some(nil) : nil }
        let policy = try arguments.choice("redirects", RedirectPolicy.self)
        // 0 is a setting of `redirects`, because in `maximumRedirects` it is the default.
        let isNone = arguments.value("max-redirs") == "0"
        redirects = isNone ? .never : policy
        redirectCount = isNone ? nil : try arguments.setting("max-redirs", in: 0...100)
        largest = try arguments.bytes("max-filesize")
        rate = try arguments.bytes("limit-rate")
        constraints = try ConstraintOptions(arguments)
    }

    private static func attempts(_ arguments: Arguments) throws(CommandError) -> Int?? {
        if arguments.has("retry") && arguments.has("attempts") {
            throw .usage("--retry and --attempts exclude each other")
        }
        if arguments.value("retry") == "" { return .some(nil) }
        if let retries = try arguments.number("retry", in: 0...999_999) { return Int(retries) + 1 }
        return try arguments.setting("attempts", in: 0...1_000_000)
    }

    var policy: Policy {
        var policy = Policy()
        change(&policy)
        return policy
    }

    /// Changes the settings whose options are given. The other settings stay.
    func change(_ settings: inout some PolicySettings) {
        if let attempts { settings.retry.maximumAttempts = attempts }
        if let firstDelay { settings.retry.firstDelay = firstDelay }
        if let longestDelay { settings.retry.longestDelay = longestDelay }
        if let jitter { settings.retry.jitterPercent = jitter }
        if let retryErrors { settings.retry.errors = retryErrors }
        if let unsafeMethods { settings.retry.unsafeMethods = unsafeMethods }
        if let retryStatuses { settings.retry.statuses = retryStatuses.unlessEmpty }
        if let acceptedStatuses { settings.rules.acceptedStatuses = acceptedStatuses.unlessEmpty }
        if let requestTimeout { settings.rules.requestTimeout = requestTimeout }
        if let resourceTimeout { settings.rules.resourceTimeout = resourceTimeout }
        if let version { settings.rules.httpVersion = version }
        if let redirectCount {
            settings.rules.maximumRedirects = redirectCount
            // An earlier --max-redirs 0 is taken back.
            if settings.rules.redirects == .never { settings.rules.redirects = nil }
        }
        if let redirects { settings.rules.redirects = redirects }
        if let largest { settings.rules.maximumSize = largest }
        if let rate { settings.bytesPerSecond = rate }
        constraints.change(&settings.constraints)
    }
}
