import CBackhaul

/// That a task waits for another one, and takes its URL from the response.
struct ChainPlan: Equatable {
    /// The task that must have ended before. It is an upload from memory.
    var predecessor: Int
    var ifFails: IfFails

    enum IfFails: CaseIterable {
        case fail, cancel, ignore
    }

    var option: bh_dependency_failure {
        switch ifFails {
        case .fail: bh_dependency_failure(BH_DEPENDENCY_FAILURE_FAIL)
        case .cancel: bh_dependency_failure(BH_DEPENDENCY_FAILURE_CANCEL)
        case .ignore: bh_dependency_failure(BH_DEPENDENCY_FAILURE_IGNORE)
        }
    }

    /// The field of the response from which a task takes its URL; nil: it takes nothing.
    func place(_ number: Int) -> String? { ifFails == .ignore ? nil : "header:X-Next-\(number)" }
}

extension History {
    /// Some tasks wait for other ones.
    mutating func addChains(_ generator: Random) {
        var random = generator
        guard random.chance(30) else { return }
        for index in tasks.indices where random.chance(40) && mayFollow(index) {
            let others = tasks[..<index].indices.filter { mayLead($0, tasks[index]) }
            guard !others.isEmpty else { continue }
            let other = random.pick(others)
            tasks[index].chain = ChainPlan(
                predecessor: tasks[other].number, ifFails: random.pick([.fail, .fail, .cancel, .ignore]))
            // All tasks of a chain are enqueued by one call.
            tasks[index].time = tasks[other].time
        }
    }

    private func mayFollow(_ index: Int) -> Bool {
        !tasks[index].mayBeCancelled && tasks[index].suspended == nil && tasks[index].upload?.kind != .s3
            && !tasks.contains { $0.rival == tasks[index].number }
    }

    private func mayLead(_ index: Int, _ follower: TaskPlan) -> Bool {
        tasks[index].program == follower.program && tasks[index].isUpload && tasks[index].upload == nil
    }

    /// A task whose predecessor is left out waits for nothing.
    mutating func leaveOutBrokenChains() {
        for index in tasks.indices {
            if let chain = tasks[index].chain, plan(chain.predecessor) == nil { tasks[index].chain = nil }
        }
    }

    /// The tasks that wait for a task, in their order.
    func followers(of plan: TaskPlan) -> [TaskPlan] { tasks.filter { $0.chain?.predecessor == plan.number } }
}

extension Servers {
    /// The fields of a response with the URLs of the tasks that follow.
    func followers(of plan: TaskPlan) -> String {
        history.followers(of: plan)
            .map { "X-Next-\($0.number): \(Servers.origin($0.resource.server))/\($0.number)?after=\(plan.number)\r\n" }
            .joined()
    }

    /// Checks that a request comes after the end of the task before, and has the URL of its response.
    func checkChain(_ request: Request, of plan: TaskPlan) {
        // A redirect, and the URL of an upload, are other URLs.
        guard let chain = plan.chain, request.path == "/\(plan.number)", request.method != "DELETE" else { return }
        let hasSucceeded = journal.all.contains { $0.kind == .upload && $0.task == chain.predecessor }
        let isFirst = !journal.all.contains { $0.kind == .request && $0.task == plan.number }
        if chain.ifFails == .ignore || hasSucceeded && (!isFirst || request.query["after"] == "\(chain.predecessor)") {
            return
        }
        record(.chainIsBroken, plan.number)
    }
}

extension Checks {
    func violationsOfChain(_ plan: TaskPlan, _ end: Observation) -> [String] {
        guard let chain = plan.chain else { return [] }
        let before = self.end(of: chain.predecessor)
        let hasRequest = observations.contains { $0.kind == .request && $0.task == plan.number }
        if observations.contains(where: { $0.kind == .chainIsBroken && $0.task == plan.number }) {
            return ["task \(plan.number) has not waited for task \(chain.predecessor), or not taken its URL"]
        }
        guard let before, before.kind != .taskSucceeds else { return [] }
        let expected: Bool =
            switch chain.ifFails {
            case .fail: end.kind == .taskFails && end.second == Int64(BH_DEPENDENCY_FAILED) && !hasRequest
            case .cancel: end.kind == .taskWasCancelled && !hasRequest
            case .ignore: true
            }
        return expected ? [] : ["task \(plan.number) has ended as if task \(chain.predecessor) had succeeded"]
    }

    /// Whether a task ends without success because the task before does.
    func endsWithPredecessor(_ plan: TaskPlan, _ end: Observation) -> Bool {
        guard let chain = plan.chain, let before = self.end(of: chain.predecessor), before.kind != .taskSucceeds else {
            return false
        }
        return end.kind == .taskWasCancelled ? chain.ifFails == .cancel : end.second == Int64(BH_DEPENDENCY_FAILED)
    }

    private func end(of task: Int) -> Observation? {
        observations.first { $0.task == task && $0.isEnd }
    }
}
