internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// How launches fare, for listings.
extension Launches {
    func info(_ launch: StoredLaunch, _ seen: LaunchedApplication.Seen) -> LaunchInfo {
        var info = LaunchInfo(application: launch.application, command: launch.command)
        guard let application = applications[launch.application] else { return info }
        let (state, nextLaunch) = state(application, seen)
        info.state = state
        info.nextLaunchMilliseconds = nextLaunch
        info.launches = application.stored.backoff.launches
        info.errorMessage = application.stored.errorMessage
        if state == .running, let current = application.stored.current {
            info.processID = current.process.map { Int64($0.processID) } ?? 0
            info.startedMilliseconds = current.startedMilliseconds
        }
        return info
    }

    /// Adds what the rows do not tell: the launch as far as it concerns each session, and stopped consumers.
    func describe(_ sessions: inout [SessionInfo], of name: String, _ seen: LaunchedApplication.Seen) {
        var stoppedSince: [Int64: Int64] = [:]
        for consumer in Set(sessions.map(\.consumer)) where consumer != 0 {
            stoppedSince[consumer] = stopped.look(at: Int32(clamping: consumer))?.wall
        }
        let concerned = Set(seen.waiting.map(\.identifier))
        let launch = applications[name].map { state($0, seen) }
        for index in sessions.indices {
            sessions[index].consumerStoppedMilliseconds = stoppedSince[sessions[index].consumer] ?? 0
            guard let launch, concerned.contains(sessions[index].identifier) else { continue }
            sessions[index].launchState = launch.state
            sessions[index].nextLaunchMilliseconds = launch.nextLaunch
        }
    }

    private func state(
        _ application: LaunchedApplication, _ seen: LaunchedApplication.Seen
    ) -> (state: LaunchState, nextLaunch: Int64) {
        let facts = facts(application, seen)
        let (state, nextAt) = LaunchDecision.state(facts)
        return (state, nextAt.map { Clock.wallMilliseconds + ($0 - facts.now) } ?? 0)
    }
}
