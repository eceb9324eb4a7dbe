import BackhaulModel

/// Generates the options of requests, the limits of engines, and the attempts (runs) of tasks with their measured
/// times.
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

    mutating func dependency() -> Dependency {
        var dependency = Dependency(pick(2) == 0 ? .id(id()) : .key(text()))
        dependency.ifFails = any()
        dependency.url = optional { $0.text() }
        dependency.body = optional { $0.text() }
        dependency.headers = list { $0.header() }
        return dependency
    }

    mutating func policy() -> TaskPolicy {
        var policy = TaskPolicy()
        policy.visitFields(with: &self)
        policy.constraints = constraints()
        return policy
    }

    mutating func options() -> RequestOptions {
        var options = RequestOptions()
        options.visitFields(with: &self)
        options.policy.constraints = constraints()
        options.body = optional { $0.body() }
        options.dependencies = list { $0.dependency() }
        return options
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
