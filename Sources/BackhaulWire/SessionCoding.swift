internal import BackhaulModel

extension SessionConfiguration: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(identifier)
        encoder.put(connectionsPerOrigin)
        encoder.put(maximumRunningTasks)
        encoder.put(maximumAttempts)
        encoder.put(firstRetryDelayMilliseconds)
        encoder.put(longestRetryDelayMilliseconds)
        encoder.put(requestTimeoutMilliseconds)
        encoder.put(resourceTimeoutMilliseconds)
        encoder.put(caFile)
        encoder.put(sendsLaunchEvents)
        encoder.put(asksForCredentials)
        encoder.put(launchIfStoppedMilliseconds)
        encoder.put(retryJitterPercent)
        encoder.put(retryErrors.rawValue)
        encoder.put(retriesUnsafeMethods)
        encoder.put(retryStatuses.text)
        encoder.put(acceptedStatuses.text)
        encoder.put(code: httpVersion)
        encoder.put(code: redirects)
        encoder.put(maximumRedirects)
        encoder.put(maximumSize)
        encoder.put(headers)
        encoder.put(bytesPerSecond)
        encoder.put(proxy)
        encoder.put(code: cookies)
        encoder.put(tls)
        encoder.put(historyLimit)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(identifier: try decoder.string())
        connectionsPerOrigin = try decoder.integer()
        maximumRunningTasks = try decoder.integer()
        maximumAttempts = try decoder.optional()
        firstRetryDelayMilliseconds = try decoder.integer()
        longestRetryDelayMilliseconds = try decoder.integer()
        requestTimeoutMilliseconds = try decoder.integer()
        resourceTimeoutMilliseconds = try decoder.integer()
        caFile = try decoder.optional()
        sendsLaunchEvents = try decoder.bool()
        asksForCredentials = try decoder.bool()
        launchIfStoppedMilliseconds = try decoder.integer()
        retryJitterPercent = try decoder.integer()
        retryErrors = RetryErrors(rawValue: try decoder.integer())
        retriesUnsafeMethods = try decoder.bool()
        retryStatuses = try decoder.requiredStatuses()
        acceptedStatuses = try decoder.requiredStatuses()
        httpVersion = try decoder.code()
        redirects = try decoder.code()
        maximumRedirects = try decoder.integer()
        maximumSize = try decoder.optional()
        headers = try decoder.list()
        bytesPerSecond = try decoder.optional()
        proxy = try decoder.value()
        cookies = try decoder.code()
        tls = try decoder.value()
        historyLimit = try decoder.optional()
    }
}

extension SessionInfo: WireElement {
    static var minimumSize: Int { 83 }
    func encode(into encoder: inout Encoder) {
        encoder.put(identifier)
        encoder.put(round)
        encoder.put(liveTasks)
        encoder.put(events)
        encoder.put(hasFinishedRound)
        encoder.put(isInvalidating)
        encoder.put(consumer)
        encoder.put(createdMilliseconds)
        encoder.put(newestEvent)
        encoder.put(openChallenges)
        encoder.put(consumerStoppedMilliseconds)
        encoder.put(waitingConsumers)
        encoder.put(code: launchState)
        encoder.put(nextLaunchMilliseconds)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            identifier: try decoder.string(), round: try decoder.integer(), liveTasks: try decoder.integer(),
            events: try decoder.integer(), hasFinishedRound: try decoder.bool(), isInvalidating: try decoder.bool(),
            consumer: try decoder.integer(), createdMilliseconds: try decoder.integer(),
            newestEvent: try decoder.value())
        openChallenges = try decoder.integer()
        consumerStoppedMilliseconds = try decoder.integer()
        waitingConsumers = try decoder.integer()
        launchState = try decoder.code()
        nextLaunchMilliseconds = try decoder.integer()
    }
}
