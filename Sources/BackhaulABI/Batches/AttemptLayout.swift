internal import BackhaulModel
internal import CBackhaul

// Unsafe: a batch is a list that the calling program gets. The pointers in its items lead into the batch's memory (the
// arena). They are valid until the program releases the batch.

extension bh_attempt {
    init(_ attempt: Attempt, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_attempt>.size
        task_id = attempt.task.rawValue
        number = attempt.number
        next = attempt.next.rawValue
        next_attempt_ms = attempt.nextAttemptMilliseconds
        status = (attempt.failure?.status ?? .ok).rawValue
        error_domain = (attempt.failure?.domain ?? .none).rawValue
        error_detail = attempt.failure?.detail ?? 0
        error_message = arena.place(attempt.failure?.message)
        http_status = attempt.httpStatus
        offset = attempt.offset
        end_offset = attempt.endOffset
        set(attempt.metrics, in: &arena)
    }

    private mutating func set(_ metrics: TransferMetrics, in arena: inout Arena) {
        started_ms = metrics.startedMilliseconds
        url = arena.place(metrics.url)
        redirects = metrics.redirects
        domain_lookup_us = metrics.domainLookup ?? -1
        connect_us = metrics.connect ?? -1
        secure_connection_us = metrics.secureConnection ?? -1
        request_start_us = metrics.requestStart ?? -1
        request_end_us = metrics.requestEnd ?? -1
        response_start_us = metrics.responseStart ?? -1
        response_end_us = metrics.responseEnd ?? -1
        `protocol` = arena.place(metrics.networkProtocol)
        reused_connection = metrics.reusedConnection
        proxy_connection = metrics.proxyConnection
        local_address = arena.place(metrics.localAddress)
        remote_address = arena.place(metrics.remoteAddress)
        local_port = metrics.localPort
        remote_port = metrics.remotePort
        tls_version = arena.place(metrics.tlsVersion)
        tls_cipher = arena.place(metrics.tlsCipher)
        request_header_bytes = metrics.requestHeaderBytes
        request_body_bytes = metrics.requestBodyBytes
        response_header_bytes = metrics.responseHeaderBytes
        response_body_bytes = metrics.responseBodyBytes
    }
}

extension bh_limits {
    init(_ limits: EngineLimits) {
        self.init()
        struct_size = MemoryLayout<bh_limits>.size
        bytes_per_second = limits.bytesPerSecond ?? 0
        maximum_running_tasks = limits.maximumRunningTasks
        maximum_connections = limits.maximumConnections
        connections_per_origin = limits.connectionsPerOrigin ?? 0
    }
}
