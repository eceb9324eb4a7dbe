import CBackhaul

/// The command `why`: explains why transfers wait, until when, and what the user can do.
struct Why: Command {
    static let description = CommandDescription(
        name: "why", operands: "[TASK...]", summary: "explain why transfers wait, until when, and what to do",
        examples: ["backhaul why 12", "backhaul why"],
        details: """
            Shows for each TASK what it waits for, since when and why, when it continues, what you can do, and its
            earlier waits. Ended transfers are included while `backhaul history` lists them. Without TASK: all
            waiting transfers of the session, by reason. `backhaul conditions` shows the held transfers of all sessions.
            With --json each explanation is one line.
            """, storeUse: .lists)

    private let ids: [UInt64]

    init(_ arguments: Arguments) throws(CommandError) { ids = try arguments.taskIDs() }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let gathering = Gathering(context: context, application: application)
            if ids.isEmpty {
                var isAny = false
                try context.forEachSession(application, role: BH_ROLE_OBSERVE) { (session) throws(CommandError) in
                    if try explainAll(session, gathering) { isAny = true }
                }
                if !isAny { context.output.note("No transfer waits in session \(context.sessionName).") }
            } else {
                for id in ids {
                    let session = try context.attach(application, role: BH_ROLE_OBSERVE, task: id)
                    try explain(id, session, gathering)
                }
            }
            return .done
        }
    }

    private func explain(_ id: UInt64, _ session: Session, _ gathering: Gathering) throws(CommandError) {
        let context = gathering.context
        let task = try Info.find(id, session, context)
        let explanation = Explanation(
            task: task, session: context.sessionName, waits: try session.waits(id),
            facts: try gathering.facts(task.hasEnded ? [] : [task.reason], session, [task]),
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
        try session.forEachPage(TaskSelection(states: TaskSelection.live)) { tasks in
            for task in tasks { WaitingGroup.gather(task, into: &groups, order: &order) }
            return true
        }
        let tried = order.compactMap { groups[$0] }.filter { $0.count == 1 }.flatMap { $0.first }
        let facts = try gathering.facts(Set(order.map { $0.reason }), session, tried)
        let holds = try gathering.holds(Set(order.map { $0.reason }))
        for group in order.compactMap({ groups[$0] }) {
            let began = holds.filter { $0.reason == group.reason && $0.began > 0 }.map { $0.began }.min()
            let waitExplanation = group.waitExplanation(
                facts, session: gathering.context.sessionName, began: began, now: Clock.wallMilliseconds,
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

/// Reads the data for the explanations from the engine (the process that runs the tasks). Data that no explanation
/// needs is not read.
private struct Gathering {
    let context: Context
    let application: Application

    var command: ([String]) -> String { { words in context.command(words: words) } }

    /// - Parameter tasks: The tasks whose last failed attempts are explained.
    func facts(
        _ reasons: Set<Int32>, _ session: Session, _ tasks: [TaskRecord]
    ) throws(CommandError) -> WaitFacts {
        var facts = WaitFacts()
        let codes = Set(reasons.map { Int($0) })
        if reasons.contains(where: { WaitPhrases.isCondition($0) }) || codes.contains(BH_REASON_RATE) {
            facts.requirements = try session.requirements()
        }
        if reasons.contains(where: { !WaitPhrases.conditions($0).isEmpty }) {
            facts.conditions = try application.conditions()
        }
        if !codes.isDisjoint(with: [BH_REASON_BUDGET, BH_REASON_METERED]) {
            facts.networks = try application.networks()
        }
        if codes.contains(BH_REASON_CREDENTIAL) { facts.challenges = try session.challenges() }
        if codes.contains(BH_REASON_RATE) { facts.storeRate = try application.limits().bytesPerSecond }
        for task in tasks where !task.hasEnded && Int(task.reason) == BH_REASON_RETRY {
            facts.lastAttempts[task.id] = try session.attempts(task.id).last { $0.error.isFailure }
        }
        return facts
    }

    /// The holds of this session: the demands of tasks on the system that the system does not meet now. `reasons` says
    /// why tasks wait. If no reason is a condition or a constraint (`WaitPhrases.isCondition`), the list is empty.
    func holds(_ reasons: Set<Int32>) throws(CommandError) -> [HoldRecord] {
        guard reasons.contains(where: { WaitPhrases.isCondition($0) }) else { return [] }
        return try application.holds().filter {
            $0.application == context.applicationName && $0.session == context.sessionName
        }
    }
}
