internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Why a task that waits does so: what its row cannot say, because it is decided here and now.
extension EngineCore {
    /// Lays over the row what is known of the running task and of what holds the waiting ones.
    func explained(_ info: TaskInfo, _ place: TaskPlace, of session: SessionID) -> TaskInfo {
        var info = withProgress(info)
        if place.constraints != .session { info.constraints = stated(place.constraints, in: session) }
        switch info.reason {
        case .turn: return withHold(info, place, of: session)
        case .budget where info.nextAttemptMilliseconds != 0: return withBudget(info, place, of: session)
        case .earliestStart: return withStart(info)
        default: return info
        }
    }

    private func stated(_ constraints: ConstraintsID, in session: SessionID) -> Boxed<Constraints>? {
        guard let stated = deferral.stated[session]?[constraints]?.stated, stated != .none else { return nil }
        return Boxed(stated)
    }

    private func withBudget(_ info: TaskInfo, _ place: TaskPlace, of session: SessionID) -> TaskInfo {
        var info = info
        info.reasonText = budgetSentence(info, place, of: session) ?? info.reasonText
        return info
    }

    private func withStart(_ info: TaskInfo) -> TaskInfo {
        guard let start = info.earliestStartMilliseconds else { return info }
        var info = info
        info.reasonText = StartText.earliest(start, now: Clock.wallMilliseconds) {
            Clock.localOffsetMilliseconds(at: $0)
        }
        info.nextAttemptMilliseconds = start
        return info
    }

    private func withHold(_ info: TaskInfo, _ place: TaskPlace, of session: SessionID) -> TaskInfo {
        guard let lane = lanes[place.lane] else { return info }
        var info = info
        let key = TaskClass(session: session, constraints: place.constraints, reach: lane.reach)
        let slow = deferral.slow[LaneClass(lane: place.lane, constraints: place.constraints)]
        if let hold = deferral.classes[key]?.held?.first ?? slow?.first {
            info.reason = hold.reason
            info.reasonText = hold.sentence
            info.nextAttemptMilliseconds = hold.nextLookMilliseconds ?? 0
        } else if unconnected.lanes.contains(place.lane) {
            // Those that wait for a task before them, which waits for the network, wait for the network.
            info.reason = .connectivity
            info.reasonText = info.reason.text
        }
        return info
    }
}
