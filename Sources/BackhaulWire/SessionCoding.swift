internal import BackhaulModel

extension SessionConfiguration: WireRecord {
    static var blank: SessionConfiguration { SessionConfiguration(identifier: "") }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&identifier)
        try visitFields(with: &coder)
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

extension EngineLimits: WireRecord {
    static var blank: EngineLimits { EngineLimits() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&bytesPerSecond)
        try coder.field(&maximumRunningTasks)
        try coder.field(&maximumConnections)
        try coder.field(&connectionsPerOrigin)
    }
}
