internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Why a task that waits does so: what its row cannot say, because it is decided here and now.
extension EngineCore {
    /// Lays over the row what is known of the running task and of what holds the waiting ones.
    func explain(_ info: inout TaskInfo, _ place: TaskPlace, of session: SessionID) {
        addProgress(to: &info)
        switch info.reason {
        case .turn: addHold(to: &info, place, of: session)
        case .budget where info.nextAttemptMilliseconds != 0:
            if let sentence = budgetSentence(info, place, of: session) { info.reasonText = sentence }
        case .earliestStart: addStart(to: &info)
        default: break
        }
    }

    private func addStart(to info: inout TaskInfo) {
        guard let start = info.earliestStartMilliseconds else { return }
        info.reasonText = StartText.earliest(start, now: Clock.wallMilliseconds) {
            Clock.localOffsetMilliseconds(at: $0)
        }
        info.nextAttemptMilliseconds = start
    }

    private func addHold(to info: inout TaskInfo, _ place: TaskPlace, of session: SessionID) {
        guard let lane = lanes[place.lane] else { return }
        let key = TaskClass(session: session, constraints: place.constraints, reach: lane.reach)
        let slow = deferral.slow[LaneClass(lane: place.lane, constraints: place.constraints)]
        if let hold = deferral.classes[key]?.held?.first ?? slow?.first {
            info.reason = hold.reason
            info.reasonText = hold.sentence
            info.nextAttemptMilliseconds = hold.nextLookMilliseconds ?? 0
        } else if reachability.isHeld(place.lane) {
            // Those that wait for a task before them, which waits for the network, wait for the network.
            info.reason = .connectivity
            info.reasonText = info.reason.text
        }
    }
}
