internal import BackhaulModel

extension TaskPolicy: WireRecord {
    static var blank: TaskPolicy { TaskPolicy() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&maximumAttempts)
        try coder.field(&firstRetryDelayMilliseconds)
        try coder.field(&longestRetryDelayMilliseconds)
        try coder.field(&retryJitterPercent)
        try coder.field(&retryErrors)
        try coder.wide(&retriesUnsafeMethods)
        try coder.field(&retryStatuses)
        try coder.field(&acceptedStatuses)
        try coder.field(&requestTimeoutMilliseconds)
        try coder.field(&resourceTimeoutMilliseconds)
        try coder.wide(&httpVersion)
        try coder.wide(&redirects)
        try coder.field(&maximumRedirects)
        try coder.field(&maximumSize)
        try coder.field(&bytesPerSecond)
        // Few tasks have their own constraints.
        try coder.field(&constraints, as: { $0 == Constraints.none ? nil : $0 }, from: { $0 ?? Constraints.none })
    }
}

extension ProxyConfiguration: WireRecord {
    static var blank: ProxyConfiguration { ProxyConfiguration() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&url)
        try coder.field(&user)
        try coder.field(&password)
        try coder.field(&exceptions)
    }
}

extension TLSConfiguration: WireRecord {
    static var blank: TLSConfiguration { TLSConfiguration() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&minimum)
        try coder.field(&clientCertificate)
        try coder.field(&clientKey)
        try coder.field(&pinnedPublicKeys)
    }
}

extension EngineLimits: WireRecord {
    static var blank: EngineLimits { EngineLimits() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&bytesPerSecond)
        try coder.field(&maximumRunningTasks)
        try coder.field(&maximumConnections)
        try coder.field(&connectionsPerOrigin)
    }
}
