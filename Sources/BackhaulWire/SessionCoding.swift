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
    }
}

extension SessionInfo: WireElement {
    static var minimumSize: Int { 54 }
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
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            identifier: try decoder.string(), round: try decoder.integer(), liveTasks: try decoder.integer(),
            events: try decoder.integer(), hasFinishedRound: try decoder.bool(), isInvalidating: try decoder.bool(),
            consumer: try decoder.integer(), createdMilliseconds: try decoder.integer(),
            newestEvent: try decoder.value())
    }
}
