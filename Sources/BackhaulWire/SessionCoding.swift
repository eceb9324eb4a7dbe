internal import BackhaulModel

extension SessionConfiguration: WireRecord {
    static var blank: SessionConfiguration { SessionConfiguration(identifier: "") }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&identifier)
        try coder.field(&connectionsPerOrigin)
        try coder.field(&maximumRunningTasks)
        try coder.field(&maximumAttempts)
        try coder.field(&firstRetryDelayMilliseconds)
        try coder.field(&longestRetryDelayMilliseconds)
        try coder.field(&requestTimeoutMilliseconds)
        try coder.field(&resourceTimeoutMilliseconds)
        try coder.field(&caFile)
        try coder.field(&sendsLaunchEvents)
        try coder.field(&asksForCredentials)
        try coder.field(&launchIfStoppedMilliseconds)
        try coder.field(&retryJitterPercent)
        try coder.field(&retryErrors)
        try coder.field(&retriesUnsafeMethods)
        try coder.field(&retryStatuses)
        try coder.field(&acceptedStatuses)
        try coder.field(&httpVersion)
        try coder.field(&redirects)
        try coder.field(&maximumRedirects)
        try coder.field(&maximumSize)
        try coder.field(&headers)
        try coder.field(&bytesPerSecond)
        try coder.field(&proxy)
        try coder.field(&cookies)
        try coder.field(&tls)
        try coder.field(&historyLimit)
        try coder.field(&constraints)
        try coder.field(&slowAfterMilliseconds)
        try coder.field(&slowPauseMilliseconds)
        try coder.field(&isDiscretionaryIfLaunched)
        try coder.field(&budget)
        try coder.field(&tolerances)
    }
}

extension SessionInfo: WireRecord, WireElement {
    static var minimumSize: Int { 84 }
    static var blank: SessionInfo {
        SessionInfo(
            identifier: "", round: 0, liveTasks: 0, events: 0, hasFinishedRound: false, isInvalidating: false,
            consumer: 0, createdMilliseconds: 0, newestEvent: .zero)
    }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&identifier)
        try coder.field(&round)
        try coder.field(&liveTasks)
        try coder.field(&events)
        try coder.field(&hasFinishedRound)
        try coder.field(&isInvalidating)
        try coder.field(&consumer)
        try coder.field(&createdMilliseconds)
        try coder.field(&newestEvent)
        try coder.field(&openChallenges)
        try coder.field(&hasActivity)
        try coder.field(&consumerStoppedMilliseconds)
        try coder.field(&waitingConsumers)
        try coder.field(&launchState)
        try coder.field(&nextLaunchMilliseconds)
    }
}
