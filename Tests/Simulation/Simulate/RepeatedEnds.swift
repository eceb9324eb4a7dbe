import CBackhaul
import CSimulation

extension History {
    /// In some histories, programs enqueue tasks again that have ended, as a program does that has lost its records.
    mutating func addRepeatedEnds(_ generator: Random) {
        var random = generator
        repeatsEnded = random.chance(40)
    }
}

extension Program {
    /// Enqueues the tasks again that have ended, if their idempotency keys must still find them.
    mutating func repeatEnded() {
        for end in knownEnds {
            if let plan = history.plan(end.task) { enqueueAgain(plan, end) }
        }
    }

    /// The ends of the tasks whose keys are not free: the event was not acknowledged, or the task has succeeded, and
    /// neither the end of its round nor an event of a later round was acknowledged.
    private var knownEnds: [Observation] {
        let own = journal.all.filter { $0.program == number }
        var rounds: [Int64: Int64] = [:]
        var ends: [Int: Observation] = [:]
        for one in own {
            switch one.kind {
            case .eventIsOfRound: rounds[one.first] = one.second
            case .sessionFinishes: rounds[one.first] = one.second + 1
            case .taskSucceeds, .taskFails, .taskWasCancelled: ends[one.task] = one
            default: break
            }
        }
        // An event of a round frees the keys of the rounds before.
        let firstKept = own.filter { $0.kind == .acknowledges }.compactMap { rounds[$0.first] }.max() ?? 0
        return ends.values.sorted { $0.task < $1.task }.filter { end in
            unacknowledged.contains(end.first)
                || end.kind == .taskSucceeds && rounds[end.first].map { $0 >= firstKept } == true
        }
    }

    /// Records the round of an event. The observation of the end of a round has it already.
    func recordRound(of event: bh_event, _ task: Int) {
        guard event.kind != BH_EVENT_SESSION_FINISHED else { return }
        record(.eventIsOfRound, task, first: Int64(event.id), second: Int64(event.round))
    }

    private mutating func enqueueAgain(_ plan: TaskPlan, _ end: Observation) {
        guard let result = enqueue([plan])?.first else { return }
        if result.task_id != accepted[plan.number] {
            record(.taskIsAccepted, plan.number, first: Int64(result.task_id))
        } else if !isRight(result, end) {
            record(.enqueueIsWrong, plan.number)
        }
    }

    private func isRight(_ result: bh_enqueued, _ end: Observation) -> Bool {
        // The process may have been killed while it acknowledged the event.
        let mayBeAcknowledged = !unacknowledged.contains(end.first)
        return result.disposition == BH_ENQUEUE_EXISTING && Observation.Kind(endIn: result.task_state) == end.kind
            && (result.event_id == UInt64(end.first) || mayBeAcknowledged && result.event_id == 0)
    }
}
