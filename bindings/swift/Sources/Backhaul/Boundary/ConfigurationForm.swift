internal import CBackhaul

// Unsafe: pointers into a batch, which lives while its items are copied.

/// A session's configuration in the form of C.
extension SessionConfiguration {
    init(_ value: bh_session_configuration) {
        self.init(identifier: text(value.identifier) ?? "")
        func number(_ value: UInt32) -> Int? { value == 0 ? nil : Int(value) }
        connectionsPerOrigin = number(value.connections_per_origin)
        maximumRunningTasks = number(value.maximum_running_tasks)
        policy = Policy(value)
        certificateFile = text(value.ca_file)
        sendsLaunchEvents = choice(value.sends_launch_events)
        asksForCredentials = choice(value.asks_for_credentials)
        launchIfStopped = duration(UInt64(value.launch_if_stopped_ms))
        headers = Backhaul.headers(value.headers, value.header_count)
        proxy = text(value.proxy)
        proxyUser = text(value.proxy_user)
        proxyPassword = text(value.proxy_password)
        noProxy = text(value.no_proxy)
        cookies = CookiePolicy(rawValue: value.cookies)
        minimumTLS = TLSVersion(rawValue: value.minimum_tls)
        clientCertificate = text(value.client_certificate)
        clientKey = text(value.client_key)
        pinnedPublicKeys = text(value.pinned_public_keys)
        switch value.history_limit {
        case 0: historyLimit = nil
        case UInt32.max: historyLimit = HistoryLimit.none
        default: historyLimit = .tasks(Int(value.history_limit))
        }
        slowAfter = duration(UInt64(value.slow_after_ms))
        slowPause = duration(UInt64(value.slow_pause_ms))
        isDiscretionaryIfLaunched = choice(value.discretionary_if_launched)
        dailyBudget = budget(value.daily_budget)
        monthlyBudget = budget(value.monthly_budget)
        tolerances = Tolerances(rawValue: value.tolerances)
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_session_configuration {
        var value = bh_session_configuration()
        value.struct_size = MemoryLayout<bh_session_configuration>.size
        value.identifier = try arena.string(identifier, "the session's identifier")
        value.connections_per_origin = try positive(connectionsPerOrigin, "connectionsPerOrigin")
        value.maximum_running_tasks = try positive(maximumRunningTasks, "maximumRunningTasks")
        try policy.fill(&value, arena)
        value.ca_file = try arena.optionalString(certificateFile, "certificateFile")
        value.sends_launch_events = choice(sendsLaunchEvents)
        value.asks_for_credentials = choice(asksForCredentials)
        value.launch_if_stopped_ms = try positive(launchIfStopped, "launchIfStopped")
        value.headers = try arena.headers(headers)
        value.header_count = headers.count
        value.proxy = try arena.optionalString(proxy, "proxy")
        value.proxy_user = try arena.optionalString(proxyUser, "proxyUser")
        value.proxy_password = try arena.optionalString(proxyPassword, "proxyPassword")
        value.no_proxy = try arena.optionalString(noProxy, "noProxy")
        value.cookies = cookies?.rawValue ?? 0
        value.minimum_tls = minimumTLS?.rawValue ?? 0
        value.client_certificate = try arena.optionalString(clientCertificate, "clientCertificate")
        value.client_key = try arena.optionalString(clientKey, "clientKey")
        value.pinned_public_keys = try arena.optionalString(pinnedPublicKeys, "pinnedPublicKeys")
        switch historyLimit {
        case nil: value.history_limit = 0
        case .some(.none): value.history_limit = UInt32.max
        case .tasks(let count): value.history_limit = try positive(count, "historyLimit")
        }
        value.slow_after_ms = try positive(slowAfter, "slowAfter")
        value.slow_pause_ms = try positive(slowPause, "slowPause")
        value.discretionary_if_launched = choice(isDiscretionaryIfLaunched)
        value.daily_budget = budget(dailyBudget)
        value.monthly_budget = budget(monthlyBudget)
        value.tolerances = tolerances.rawValue
        return value
    }
}

extension Policy {
    /// What the session remembers of it.
    fileprivate init(_ value: bh_session_configuration) {
        func number(_ value: UInt32) -> Int? { value == 0 ? nil : Int(value) }
        maximumAttempts = number(value.maximum_attempts)
        firstRetryDelay = duration(UInt64(value.first_retry_delay_ms))
        longestRetryDelay = duration(UInt64(value.longest_retry_delay_ms))
        retryJitter = number(value.retry_jitter_percent)
        retryErrors = value.retry_errors == 0 ? nil : RetryErrors(rawValue: value.retry_errors)
        retriesUnsafeMethods = choice(value.retries_unsafe_methods)
        retryStatuses = text(value.retry_statuses)
        acceptedStatuses = text(value.accepted_statuses)
        requestTimeout = duration(UInt64(value.request_timeout_ms))
        resourceTimeout = duration(value.resource_timeout_ms)
        httpVersion = HTTPVersion(rawValue: value.http_version)
        redirects = RedirectPolicy(rawValue: value.redirects)
        maximumRedirects = number(value.maximum_redirects)
        maximumSize = value.maximum_size == 0 ? nil : value.maximum_size
        bytesPerSecond = value.bytes_per_second == 0 ? nil : value.bytes_per_second
        constraints = Constraints(value)
    }
}

private func duration(_ milliseconds: UInt64) -> Duration? {
    milliseconds == 0 ? nil : .milliseconds(Int64(clamping: milliseconds))
}

func headers(_ start: UnsafePointer<bh_header>?, _ count: Int) -> [Header] {
    UnsafeBufferPointer(start: start, count: start == nil ? 0 : count).map {
        Header(name: text($0.name) ?? "", value: text($0.value) ?? "")
    }
}
