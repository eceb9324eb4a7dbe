import Backhaul

/// The command `why`: explains why transfers wait, until when, and what the user can do.
struct Why: DescribedCommand {
    static let description = CommandDescription(
        name: "why", operands: "[TASK...]", summary: "explain why transfers wait, until when, and what to do",
        examples: ["backhaul why 12", "backhaul why"],
        details: """
            Shows for each TASK what it waits for, since when and why, when it continues, what you can do, and its
            earlier waits. Ended transfers are included while `backhaul history` lists them. Without TASK: all
            waiting transfers of the session, by reason. `backhaul conditions` shows the held transfers of all sessions.
            With --json each explanation is one line.
            """, storeUse: .lists)

    private let ids: [TaskID]

    init(_ arguments: Arguments) throws(CommandError) { ids = try arguments.taskIDs() }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let gathering = Gathering(context: context, application: application)
            if ids.isEmpty {
                var isAny = false
                try context.forEachSession(application, role: .observe) { (session) throws(CommandError) in
                    if try explainAll(session, gathering) { isAny = true }
                }
                if !isAny { context.output.note("No transfer waits in session \(context.sessionName).") }
            } else {
                for id in ids {
                    let session = try context.attach(application, role: .observe, task: id)
                    try explain(id, session, gathering)
                }
            }
            return .done
        }
    }

    private func explain(_ id: TaskID, _ session: Session, _ gathering: Gathering) throws(CommandError) {
        let context = gathering.context
        let task = try Info.find(id, session, context)
        let explanation = Explanation(
            task: task, session: context.sessionName, waits: try session.run(.waits(id)),
            facts: try gathering.facts(task.hasEnded ? [] : [task.waitsFor], session, [task]),
            now: Clock.wallMilliseconds, command: gathering.command)
        if context.output.isJSON {
            try context.output.result(explanation.json)
        } else {
            try context.output.result(lines: explanation.lines)
        }
    }

    /// - Returns: Whether a transfer waits.
    private func explainAll(_ session: Session, _ gathering: Gathering) throws(CommandError) -> Bool {
        let output = gathering.context.output
        var groups: [WaitingGroup.Key: WaitingGroup] = [:]
        var order: [WaitingGroup.Key] = []
        try session.forEachPage(.states(TaskSelection.live)) { tasks in
            for task in tasks { WaitingGroup.gather(task, into: &groups, order: &order) }
            return true
        }
        let tried = order.compactMap { groups[$0] }.filter { $0.count == 1 }.flatMap { $0.first }
        let facts = try gathering.facts(Set(order.map { $0.reason }), session, tried)
        let holds = try gathering.holds(Set(order.map { $0.reason }))
        for key in order {
            guard let group = groups[key] else { continue }
            let waitExplanation = group.waitExplanation(
                facts, session: gathering.context.sessionName, began: key.began(holds), now: Clock.wallMilliseconds,
                command: gathering.command)
            if output.isJSON {
                try output.result(group.json(waitExplanation))
            } else {
                try output.result(lines: waitExplanation.lines() + [""])
            }
        }
        return !order.isEmpty
    }
}

/// Reads the data for the explanations from the engine. Data that no explanation needs is not read.
struct Gathering {
    let context: Context
    let application: Application

    var command: ([String]) -> String { { words in context.command(words: words) } }

    /// - Parameter tasks: The tasks whose last failed attempts are explained.
    func facts(
        _ reasons: Set<Reason?>, _ session: Session, _ tasks: [TaskInfo]
    ) throws(CommandError) -> WaitFacts {
        var facts = WaitFacts()
        if reasons.contains(where: { WaitPhrases.isCondition($0) }) || reasons.contains(.rate) {
            facts.requirements = try session.configuration()
        }
        if reasons.contains(where: { !WaitPhrases.conditions($0).isEmpty }) {
            facts.conditions = try application.run(.conditions)
        }
        if !reasons.isDisjoint(with: [.budget, .metered]) {
            facts.networks = try application.run(.networks)
        }
        if reasons.contains(.credential) { facts.challenges = try session.run(.challenges) }
        if reasons.contains(.rate) { facts.storeRate = try application.limits().bytesPerSecond }
        for task in tasks where !task.hasEnded && task.waitsFor == .retry {
            facts.lastAttempts[task.id] = try session.run(.attempts(task.id)).last { $0.error != nil }
        }
        return facts
    }

    /// The holds of this session: the demands of tasks on the system that the system does not meet now. `reasons` says
    /// why tasks wait. If no reason is a condition or a constraint (`WaitPhrases.isCondition`), the list is empty.
    func holds(_ reasons: Set<Reason?>) throws(CommandError) -> [Hold] {
        guard reasons.contains(where: { WaitPhrases.isCondition($0) }) else { return [] }
        return try application.run(.holds).filter {
            $0.application == context.applicationName && $0.session == context.sessionName
        }
    }
}
