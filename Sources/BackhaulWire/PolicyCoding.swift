internal import BackhaulModel

extension TaskPolicy: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(maximumAttempts)
        encoder.put(firstRetryDelayMilliseconds)
        encoder.put(longestRetryDelayMilliseconds)
        encoder.put(retryJitterPercent)
        encoder.put(retryErrors?.rawValue)
        encoder.put(retriesUnsafeMethods.map { $0 ? 1 : 0 as UInt32 })
        encoder.put(retryStatuses?.text)
        encoder.put(acceptedStatuses?.text)
        encoder.put(requestTimeoutMilliseconds)
        encoder.put(resourceTimeoutMilliseconds)
        encoder.put(httpVersion?.rawValue)
        encoder.put(redirects?.rawValue)
        encoder.put(maximumRedirects)
        encoder.put(maximumSize)
        encoder.put(bytesPerSecond)
        encoder.put(constraints == .none ? nil : constraints)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init()
        maximumAttempts = try decoder.optional()
        firstRetryDelayMilliseconds = try decoder.optional()
        longestRetryDelayMilliseconds = try decoder.optional()
        retryJitterPercent = try decoder.optional()
        retryErrors = try decoder.optional(UInt32.self).map(RetryErrors.init)
        retriesUnsafeMethods = try decoder.optional(UInt32.self).map { $0 != 0 }
        retryStatuses = try decoder.statuses()
        acceptedStatuses = try decoder.statuses()
        requestTimeoutMilliseconds = try decoder.optional()
        resourceTimeoutMilliseconds = try decoder.optional()
        httpVersion = try decoder.optionalCode()
        redirects = try decoder.optionalCode()
        maximumRedirects = try decoder.optional()
        maximumSize = try decoder.optional()
        bytesPerSecond = try decoder.optional()
        constraints = try decoder.optional() ?? .none
    }
}

extension Decoder {
    mutating func optionalCode<Code: RawRepresentable>() throws(Malformed) -> Code?
    where Code.RawValue == Int32 {
        guard let raw: Int32 = try optional() else { return nil }
        guard let code = Code(rawValue: raw) else { throw Malformed("it has \(raw) for a \(Code.self)") }
        return code
    }
}

extension ProxyConfiguration: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(url)
        encoder.put(user)
        encoder.put(password)
        encoder.put(exceptions)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init()
        url = try decoder.optional()
        user = try decoder.optional()
        password = try decoder.optional()
        exceptions = try decoder.optional()
    }
}

extension TLSConfiguration: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(code: minimum)
        encoder.put(clientCertificate)
        encoder.put(clientKey)
        encoder.put(pinnedPublicKeys)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init()
        minimum = try decoder.code()
        clientCertificate = try decoder.optional()
        clientKey = try decoder.optional()
        pinnedPublicKeys = try decoder.optional()
    }
}

extension EngineLimits: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(bytesPerSecond)
        encoder.put(maximumRunningTasks)
        encoder.put(maximumConnections)
        encoder.put(connectionsPerOrigin)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init()
        bytesPerSecond = try decoder.optional()
        maximumRunningTasks = try decoder.integer()
        maximumConnections = try decoder.integer()
        connectionsPerOrigin = try decoder.optional()
    }
}
