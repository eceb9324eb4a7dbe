internal import BackhaulModel

extension TransferMetrics: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(startedMilliseconds)
        encoder.put(url)
        encoder.put(redirects)
        encoder.put(domainLookup)
        encoder.put(connect)
        encoder.put(secureConnection)
        encoder.put(requestStart)
        encoder.put(requestEnd)
        encoder.put(responseStart)
        encoder.put(responseEnd)
        encoder.put(networkProtocol)
        encoder.put(reusedConnection)
        encoder.put(proxyConnection)
        encoder.put(localAddress)
        encoder.put(localPort)
        encoder.put(remoteAddress)
        encoder.put(remotePort)
        encoder.put(tlsVersion)
        encoder.put(tlsCipher)
        encoder.put(requestHeaderBytes)
        encoder.put(requestBodyBytes)
        encoder.put(responseHeaderBytes)
        encoder.put(responseBodyBytes)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init()
        startedMilliseconds = try decoder.integer()
        url = try decoder.string()
        redirects = try decoder.integer()
        domainLookup = try decoder.optional()
        connect = try decoder.optional()
        secureConnection = try decoder.optional()
        requestStart = try decoder.optional()
        requestEnd = try decoder.optional()
        responseStart = try decoder.optional()
        responseEnd = try decoder.optional()
        networkProtocol = try decoder.optional()
        reusedConnection = try decoder.bool()
        proxyConnection = try decoder.bool()
        localAddress = try decoder.optional()
        localPort = try decoder.integer()
        remoteAddress = try decoder.optional()
        remotePort = try decoder.integer()
        tlsVersion = try decoder.optional()
        tlsCipher = try decoder.optional()
        requestHeaderBytes = try decoder.integer()
        requestBodyBytes = try decoder.integer()
        responseHeaderBytes = try decoder.integer()
        responseBodyBytes = try decoder.integer()
    }
}

extension Attempt: WireElement {
    static var minimumSize: Int { 108 }
    func encode(into encoder: inout Encoder) {
        encoder.put(task)
        encoder.put(number)
        encoder.put(code: next)
        encoder.put(nextAttemptMilliseconds)
        encoder.put(failure)
        encoder.put(httpStatus)
        encoder.put(offset)
        encoder.put(endOffset)
        encoder.put(metrics)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(task: try decoder.value(), number: try decoder.integer(), next: try decoder.code())
        nextAttemptMilliseconds = try decoder.integer()
        failure = try decoder.optional()
        httpStatus = try decoder.integer()
        offset = try decoder.integer()
        endOffset = try decoder.integer()
        metrics = try decoder.value()
    }
}
