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
        invalidating = session.isInvalidating ? 1 : 0
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
        connections_per_origin = configuration.connectionsPerOrigin
        maximum_running_tasks = configuration.maximumRunningTasks
        maximum_attempts = configuration.maximumAttempts ?? 0
        first_retry_delay_ms = configuration.firstRetryDelayMilliseconds
        longest_retry_delay_ms = configuration.longestRetryDelayMilliseconds
        request_timeout_ms = configuration.requestTimeoutMilliseconds
        resource_timeout_ms = configuration.resourceTimeoutMilliseconds
        ca_file = arena.place(configuration.caFile)
        sends_launch_events = Int32(configuration.sendsLaunchEvents ? BH_YES : BH_NO)
        asks_for_credentials = Int32(configuration.asksForCredentials ? BH_YES : BH_NO)
        launch_if_stopped_ms = configuration.launchIfStoppedMilliseconds
        retry_jitter_percent = configuration.retryJitterPercent
        retry_errors = configuration.retryErrors.rawValue
        retries_unsafe_methods = Int32(configuration.retriesUnsafeMethods ? BH_YES : BH_NO)
        retry_statuses = arena.place(configuration.retryStatuses.text)
        accepted_statuses = arena.place(configuration.acceptedStatuses.text)
        http_version = configuration.httpVersion.rawValue
        redirects = configuration.redirects.rawValue
        maximum_redirects = configuration.maximumRedirects
        maximum_size = configuration.maximumSize ?? 0
        headers = arena.place(configuration.headers)
        header_count = configuration.headers.count
        bytes_per_second = configuration.bytesPerSecond ?? 0
        proxy = arena.place(configuration.proxy.url)
        proxy_user = arena.place(configuration.proxy.user)
        proxy_password = arena.place(configuration.proxy.password)
        no_proxy = arena.place(configuration.proxy.exceptions)
        cookies = configuration.cookies.rawValue
        minimum_tls = configuration.tls.minimum.rawValue
        client_certificate = arena.place(configuration.tls.clientCertificate)
        client_key = arena.place(configuration.tls.clientKey)
        pinned_public_keys = arena.place(configuration.tls.pinnedPublicKeys)
        history_limit = configuration.historyLimit ?? UInt32.max
        set(configuration.constraints, in: &arena)
        slow_after_ms = configuration.slowAfterMilliseconds
        slow_pause_ms = configuration.slowPauseMilliseconds
        discretionary_if_launched = Int32(configuration.isDiscretionaryIfLaunched ? BH_YES : BH_NO)
        tolerances = configuration.tolerances.rawValue
        (daily_budget, monthly_budget) = configuration.budget.fields
    }
}
