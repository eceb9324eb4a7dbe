internal import CBackhaul

/// Where a session's cookies are kept (RFC 6265).
public enum CookiePolicy: Int32, Hashable, Sendable {
    case none = 1
    /// In the engine, until it exits.
    case memory = 2
    /// In the store; those without an expiry in the engine.
    case persistent = 3
}

/// Faults of servers that a session accepts.
public struct Tolerances: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ constant: Int) { rawValue = UInt32(constant) }

    /// A body that ends with its TLS connection is complete without close_notify (RFC 9112, section 9.8). Without this
    /// the task fails with `.tlsTruncated`, because an attacker can cut such a body.
    public static let missingCloseNotify = Tolerances(BH_TOLERATE_MISSING_CLOSE_NOTIFY)
    /// A successful response to an upload counts before its body was sent. Without this the whole body must be sent.
    public static let earlyResponse = Tolerances(BH_TOLERATE_EARLY_RESPONSE)
}

/// How many ended tasks a session keeps.
public enum HistoryLimit: Hashable, Sendable {
    /// No task, and attempts only until their task ends.
    case none
    /// At most 100,000.
    case tasks(Int)
}

/// Settings of a session, stored with it. Attaching needs the identifier alone. Nil stands for the default.
public struct SessionConfiguration: Hashable, Sendable {
    /// 1 to 255 bytes of UTF-8 without control characters.
    public var identifier: String
    public var retry = RetryPolicy()
    public var rules = TransferRules()
    public var constraints = Constraints()
    public var tls = TLS()
    public var proxy = Proxy()
    /// Of this session on any one network.
    public var budget = Budget()
    /// Of all its tasks together, both directions. Default no limit.
    public var bytesPerSecond: UInt64?
    /// Sent with each request to the origin of its URL. A request's own header of the same name replaces it (Apple:
    /// httpAdditionalHeaders).
    public var headers: [Header] = []
    /// Default 6; at most 256. Tasks over HTTP/2 share one connection.
    public var connectionsPerOrigin: Int?
    /// Default 64; at most 1,024.
    public var maximumRunningTasks: Int?
    /// Ended tasks that `Session.history` returns. Default 1,000.
    public var historyLimit: HistoryLimit?
    /// Default `.none`.
    public var cookies: CookiePolicy?
    /// Default none.
    public var tolerances: Tolerances = []
    /// True, the default: its rounds and challenges launch the application (Apple: sessionSendsLaunchEvents).
    public var sendsLaunchEvents: Bool?
    /// True: 401 and 407 open a challenge, for which tasks wait. Default false: they are failures, as other statuses
    /// that are not accepted.
    public var asksForCredentials: Bool?
    /// True: tasks of a launched host get `Preset.discretionary`, as Apple does with tasks of an app in the background.
    /// Default false.
    public var isDiscretionaryIfLaunched: Bool?
    /// Launches a host although one consumes the session, when the session needs it and the consumer's process was
    /// stopped for this long (SIGSTOP, debugger, freezer). Default never.
    public var launchIfStopped: Duration?
    /// Time for `Constraints.minimumBytesPerSecond`. Default a minute.
    public var slowAfter: Duration?
    /// Pause before the first probe of a slow origin. Default 5 minutes; it doubles up to twelve times this.
    public var slowPause: Duration?

    public init(identifier: String) { self.identifier = identifier }

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ value: bh_session_configuration) {
        identifier = text(value.identifier) ?? ""
        retry = RetryPolicy(value.retry)
        rules = TransferRules(value.rules)
        constraints = Constraints(value.constraints)
        tls = TLS(value.tls)
        proxy = Proxy(value.proxy)
        budget = Budget(value.budget)
        bytesPerSecond = nonzero(value.bytes_per_second)
        headers = Backhaul.headers(value.headers, value.header_count)
        connectionsPerOrigin = number(value.connections_per_origin)
        maximumRunningTasks = number(value.maximum_running_tasks)
        historyLimit = HistoryLimit.of(value.history_limit)
        cookies = CookiePolicy(rawValue: value.cookies)
        tolerances = Tolerances(rawValue: value.tolerances)
        sendsLaunchEvents = choice(value.sends_launch_events)
        asksForCredentials = choice(value.asks_for_credentials)
        isDiscretionaryIfLaunched = choice(value.discretionary_if_launched)
        launchIfStopped = duration(value.launch_if_stopped_ms)
        slowAfter = duration(value.slow_after_ms)
        slowPause = duration(value.slow_pause_ms)
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_session_configuration {
        var value = bh_session_configuration()
        value.struct_size = MemoryLayout<bh_session_configuration>.size
        value.identifier = try arena.string(identifier, "the session's identifier")
        value.retry = try retry.value(arena)
        value.rules = try rules.value(arena)
        value.constraints = try constraints.value(arena)
        value.tls = try tls.value(arena)
        value.proxy = try proxy.value(arena)
        value.budget = budget.value
        value.bytes_per_second = bytesPerSecond ?? 0
        value.headers = try arena.headers(headers)
        value.header_count = headers.count
        value.connections_per_origin = try positive(connectionsPerOrigin, "connectionsPerOrigin")
        value.maximum_running_tasks = try positive(maximumRunningTasks, "maximumRunningTasks")
        value.history_limit = try historyLimit?.value() ?? 0
        value.cookies = cookies?.rawValue ?? 0
        value.tolerances = tolerances.rawValue
        value.sends_launch_events = choice(sendsLaunchEvents)
        value.asks_for_credentials = choice(asksForCredentials)
        value.discretionary_if_launched = choice(isDiscretionaryIfLaunched)
        value.launch_if_stopped_ms = try positive(launchIfStopped, "launchIfStopped")
        value.slow_after_ms = try positive(slowAfter, "slowAfter")
        value.slow_pause_ms = try positive(slowPause, "slowPause")
        return value
    }
}

extension HistoryLimit {
    fileprivate static func of(_ field: UInt32) -> HistoryLimit? {
        field == BH_HISTORY_NONE ? HistoryLimit.none : number(field).map { .tasks($0) }
    }

    fileprivate func value() throws(BackhaulError) -> UInt32 {
        switch self {
        case .none: BH_HISTORY_NONE
        case .tasks(let count): try positive(count, "historyLimit")
        }
    }
}
