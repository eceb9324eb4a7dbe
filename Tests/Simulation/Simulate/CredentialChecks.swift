import CBackhaul

/// What must hold for secrets that change.
extension Checks {
    /// How long after a response a server may get a request with an older secret. The request may have been in flight,
    /// or the threads of the engine may have been stopped.
    private static let longestDelay = 10 * second

    func violationsOfSecrets(_ plan: TaskPlan) -> [String] {
        guard plan.credential != nil else { return [] }
        let repeated =
            (repeatsRefusedRequests(plan) ? ["task \(plan.number) has repeated requests that its server refuses"] : [])
            + (foreignSecret(plan).map { ["task \(plan.number) has sent secret \($0) in place of its own"] } ?? [])
        // A disk that fails may not have the response.
        guard plan.credential?.kind == .refresh, !history.hasDiskFaults, let secret = replacedSecret(plan) else {
            return repeated
        }
        return repeated + ["task \(plan.number) has sent secret \(secret) after it was replaced"]
    }

    /// Whether a task was refused more often than responses and new engines explain. After each refusal, it waits for a
    /// response. One request may be sent again with a secret that the engine had already.
    private func repeatsRefusedRequests(_ plan: TaskPlan) -> Bool {
        let refusals = observations.count {
            $0.kind == .secretIsSent && $0.task == plan.number && $0.second == 0
        }
        let responses = observations.count { $0.kind == .secretIsOffered && concerns($0, plan) }
        let starts = observations.count { [.processStarts, .daemonStarts].contains($0.kind) }
        return refusals > 3 + 2 * (responses + starts)
    }

    /// A secret that the task has sent before any response that may be for it; nil: it has sent only its own. Refreshed
    /// headers are only for the tasks that existed.
    private func foreignSecret(_ plan: TaskPlan) -> Int64? {
        guard let credential = plan.credential, credential.kind == .refresh, let own = credential.secret else {
            return nil
        }
        let before = observations.prefix {
            !($0.kind == .secretIsOffered && concerns($0, plan) && $0.time >= plan.time)
        }
        return before.first { $0.kind == .secretIsSent && $0.task == plan.number && $0.first != own.number }?.first
    }

    /// A secret that the task has sent, although the response to a refresh had replaced it; nil: there is none.
    private func replacedSecret(_ plan: TaskPlan) -> Int64? {
        var isAccepted = false
        var taken: Int64?
        /// The secrets of the last response that was accepted, and of responses whose result the program does not know.
        var possible: Set<Int64> = []
        var wasRefused = false
        for one in observations {
            switch one.kind {
            case .taskIsAccepted where one.task == plan.number: isAccepted = true
            case .secretIsOffered where concerns(one, plan) && one.second == Int64(BH_CHALLENGE_REFRESH):
                possible.insert(one.first)
            case .secretIsTaken where concerns(one, plan) && one.second == Int64(BH_CHALLENGE_REFRESH):
                possible = [one.first]
                // Tasks that are enqueued later have headers of their own.
                if isAccepted { (taken, wasRefused) = (one.time, false) }
            case .secretIsSent where one.task == plan.number:
                guard let taken, one.time > taken + Self.longestDelay, !possible.contains(one.first) else { continue }
                // An attempt of an upload continues with the headers with which it began, until it is refused.
                guard plan.upload != nil, !wasRefused else { return one.first }
                wasRefused = true
            default: break
            }
        }
        return nil
    }

    /// Whether the response with a secret is for tasks such as this one.
    private func concerns(_ response: Observation, _ plan: TaskPlan) -> Bool {
        response.program == plan.program && Secret(number: response.first).server == plan.resource.server
    }
}
