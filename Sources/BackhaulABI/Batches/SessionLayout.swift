internal import BackhaulModel
internal import CBackhaul

extension bh_session_info {
    init(_ session: SessionInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_session_info>.size
        identifier = arena.place(session.identifier)
        round = session.round
        live_tasks = session.liveTasks
        events = session.events
        if session.events > 0 { attention |= UInt32(BH_ATTENTION_EVENTS) }
        if session.hasActivity { attention |= UInt32(BH_ATTENTION_ACTIVITY) }
        if session.hasFinishedRound { attention |= UInt32(BH_ATTENTION_FINISHED) }
        is_invalidated = session.isInvalidating
        consumer = session.consumer
        created_ms = session.createdMilliseconds
        open_challenges = session.openChallenges
        if session.openChallenges > 0 { attention |= UInt32(BH_ATTENTION_CHALLENGE) }
        if session.waitingConsumers > 0 { attention |= UInt32(BH_ATTENTION_YIELD) }
        consumer_stopped_ms = session.consumerStoppedMilliseconds
        waiting_consumers = session.waitingConsumers
        launch_state = session.launchState.rawValue
        next_launch_ms = session.nextLaunchMilliseconds
    }
}

extension bh_session_configuration {
    init(_ configuration: SessionConfiguration, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_session_configuration>.size
        identifier = arena.place(configuration.identifier)
        retry = bh_retry_policy(configuration, in: &arena)
        rules = bh_transfer_rules(configuration, in: &arena)
        constraints = bh_constraints(configuration.constraints, in: &arena)
        tls = bh_tls_settings(configuration, in: &arena)
        proxy = bh_proxy_settings(configuration.proxy, in: &arena)
        budget = bh_budget(configuration.budget)
        bytes_per_second = configuration.bytesPerSecond ?? 0
        headers = arena.place(configuration.headers)
        header_count = configuration.headers.count
        connections_per_origin = configuration.connectionsPerOrigin
        maximum_running_tasks = configuration.maximumRunningTasks
        history_limit = configuration.historyLimit ?? UInt32.max
        cookies = configuration.cookies.rawValue
        tolerances = configuration.tolerances.rawValue
        sends_launch_events = Choice.code(configuration.sendsLaunchEvents)
        asks_for_credentials = Choice.code(configuration.asksForCredentials)
        discretionary_if_launched = Choice.code(configuration.isDiscretionaryIfLaunched)
        launch_if_stopped_ms = configuration.launchIfStoppedMilliseconds
        slow_after_ms = configuration.slowAfterMilliseconds
        slow_pause_ms = configuration.slowPauseMilliseconds
    }
}

extension bh_retry_policy {
    fileprivate init(_ configuration: SessionConfiguration, in arena: inout Arena) {
        self.init()
        maximum_attempts = configuration.maximumAttempts ?? 0
        first_delay_ms = configuration.firstRetryDelayMilliseconds
        longest_delay_ms = configuration.longestRetryDelayMilliseconds
        jitter_percent = configuration.retryJitterPercent
        errors = configuration.retryErrors.rawValue
        unsafe_methods = Choice.code(configuration.retriesUnsafeMethods)
        statuses = arena.place(configuration.retryStatuses.text)
    }
}

extension bh_transfer_rules {
    fileprivate init(_ configuration: SessionConfiguration, in arena: inout Arena) {
        self.init()
        request_timeout_ms = configuration.requestTimeoutMilliseconds
        http_version = configuration.httpVersion.rawValue
        resource_timeout_ms = configuration.resourceTimeoutMilliseconds
        redirects = configuration.redirects.rawValue
        maximum_redirects = configuration.maximumRedirects
        accepted_statuses = arena.place(configuration.acceptedStatuses.text)
        maximum_size = configuration.maximumSize ?? 0
    }
}

extension bh_tls_settings {
    fileprivate init(_ configuration: SessionConfiguration, in arena: inout Arena) {
        self.init()
        ca_file = arena.place(configuration.caFile)
        client_certificate = arena.place(configuration.tls.clientCertificate)
        client_key = arena.place(configuration.tls.clientKey)
        pinned_public_keys = arena.place(configuration.tls.pinnedPublicKeys)
        minimum_version = configuration.tls.minimum.rawValue
    }
}

extension bh_proxy_settings {
    fileprivate init(_ proxy: ProxyConfiguration, in arena: inout Arena) {
        self.init()
        url = arena.place(proxy.url)
        user = arena.place(proxy.user)
        password = arena.place(proxy.password)
        bypass = arena.place(proxy.exceptions)
    }
}
