import BackhaulModel

/// Rarely used options of requests, and the same options of sessions.
extension Generator {
    mutating func checksum() -> Checksum {
        let algorithm: Checksum.Algorithm = any()
        return Checksum(algorithm, (0..<algorithm.size).map { _ in integer() })
    }

    mutating func statuses() -> StatusList {
        pick([StatusList("200-299"), StatusList("404"), StatusList("100,200-299,418")].compactMap(\.self))
    }

    mutating func bodyFile() -> BodyFile {
        BodyFile(path: text(), device: integer(), inode: integer(), size: integer(), modifiedNanoseconds: integer())
    }

    mutating func part() -> FormPart {
        FormPart(
            name: text(), content: pick(2) == 0 ? .file(bodyFile()) : .value(data()), fileName: optional { $0.text() },
            mediaType: optional { $0.text() })
    }

    mutating func body() -> RequestBody {
        switch pick(3) {
        case 0: .file(bodyFile(), any())
        case 1: .bytes(data())
        default: .form(list { $0.part() }, any())
        }
    }

    mutating func policy() -> TaskPolicy {
        var policy = TaskPolicy()
        policy.maximumAttempts = optional { $0.integer() }
        policy.firstRetryDelayMilliseconds = optional { $0.integer() }
        policy.longestRetryDelayMilliseconds = optional { $0.integer() }
        policy.retryJitterPercent = optional { $0.integer() }
        policy.retryErrors = optional { RetryErrors(rawValue: $0.integer()) }
        policy.retriesUnsafeMethods = optional { $0.bool() }
        policy.retryStatuses = optional { $0.statuses() }
        policy.acceptedStatuses = optional { $0.statuses() }
        policy.requestTimeoutMilliseconds = optional { $0.integer() }
        policy.resourceTimeoutMilliseconds = optional { $0.integer() }
        policy.httpVersion = optional { $0.any() }
        policy.redirects = optional { $0.any() }
        policy.maximumRedirects = optional { $0.integer() }
        policy.maximumSize = optional { $0.integer() }
        policy.bytesPerSecond = optional { $0.integer() }
        policy.constraints = constraints()
        return policy
    }

    mutating func options() -> RequestOptions {
        var options = RequestOptions()
        options.method = optional { $0.text() }
        options.group = optional { $0.text() }
        options.checksum = optional { $0.checksum() }
        options.expectedSize = optional { $0.integer() }
        options.body = optional { $0.body() }
        options.refresh = any()
        options.expiresMilliseconds = optional { $0.integer() }
        options.isOnlyIfChanged = bool()
        options.isNamedByServer = bool()
        options.ignoresDigests = bool()
        options.earliestStartMilliseconds = optional { $0.integer() }
        options.latestStartMilliseconds = optional { $0.integer() }
        options.expectedBytesReceived = optional { $0.integer() }
        options.expectedBytesSent = optional { $0.integer() }
        options.policy = policy()
        return options
    }

    mutating func fillOptions(_ configuration: inout SessionConfiguration) {
        configuration.retryJitterPercent = integer()
        configuration.retryErrors = RetryErrors(rawValue: integer())
        configuration.retriesUnsafeMethods = bool()
        configuration.retryStatuses = statuses()
        configuration.acceptedStatuses = statuses()
        configuration.httpVersion = any()
        configuration.redirects = any()
        configuration.maximumRedirects = integer()
        configuration.maximumSize = optional { $0.integer() }
        configuration.headers = list { $0.header() }
        configuration.bytesPerSecond = optional { $0.integer() }
        configuration.proxy.url = optional { $0.text() }
        configuration.proxy.user = optional { $0.text() }
        configuration.proxy.password = optional { $0.text() }
        configuration.proxy.exceptions = optional { $0.text() }
        configuration.cookies = any()
        configuration.tls.minimum = any()
        configuration.tls.clientCertificate = optional { $0.text() }
        configuration.tls.clientKey = optional { $0.text() }
        configuration.tls.pinnedPublicKeys = optional { $0.text() }
        configuration.historyLimit = optional { $0.integer() }
        configuration.constraints = constraints()
        configuration.slowAfterMilliseconds = integer()
        configuration.slowPauseMilliseconds = integer()
        configuration.isDiscretionaryIfLaunched = bool()
        configuration.budget = budget()
        configuration.tolerances = Tolerances(rawValue: integer())
    }

    mutating func limits() -> EngineLimits {
        var limits = EngineLimits()
        limits.bytesPerSecond = optional { $0.integer() }
        limits.maximumRunningTasks = integer()
        limits.maximumConnections = integer()
        limits.connectionsPerOrigin = optional { $0.integer() }
        return limits
    }

    mutating func attempt() -> Attempt {
        var attempt = Attempt(task: id(), number: integer(), next: any())
        attempt.nextAttemptMilliseconds = integer()
        attempt.failure = optional { $0.failure() }
        attempt.httpStatus = integer()
        attempt.offset = integer()
        attempt.endOffset = integer()
        attempt.metrics = metrics()
        return attempt
    }

    private mutating func metrics() -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.startedMilliseconds = integer()
        metrics.url = text()
        metrics.redirects = integer()
        metrics.domainLookup = optional { $0.integer() }
        metrics.connect = optional { $0.integer() }
        metrics.secureConnection = optional { $0.integer() }
        metrics.requestStart = optional { $0.integer() }
        metrics.requestEnd = optional { $0.integer() }
        metrics.responseStart = optional { $0.integer() }
        metrics.responseEnd = optional { $0.integer() }
        metrics.networkProtocol = optional { $0.text() }
        metrics.reusedConnection = bool()
        metrics.proxyConnection = bool()
        metrics.localAddress = optional { $0.text() }
        metrics.localPort = integer()
        metrics.remoteAddress = optional { $0.text() }
        metrics.remotePort = integer()
        metrics.tlsVersion = optional { $0.text() }
        metrics.tlsCipher = optional { $0.text() }
        metrics.requestHeaderBytes = integer()
        metrics.requestBodyBytes = integer()
        metrics.responseHeaderBytes = integer()
        metrics.responseBodyBytes = integer()
        return metrics
    }
}
