import CSimulation

/// Many runs, and what they have found.
struct Campaign {
    let runner: Runner
    /// Whether each run is shown in words.
    var shows = false
    /// Whether a history with a violation is made shorter.
    var shrinks = true
    private(set) var violations = 0
    private var runs = 0
    private var simulated: Int64 = 0

    init(_ runner: Runner) { self.runner = runner }

    /// Performs the run of a choice, and reports what must not have happened.
    mutating func perform(_ choice: Choice) {
        let found = runner.perform(choice)
        runs += 1
        simulated += runner.journal.all.last?.time ?? 0
        if shows { Story(runner.journal).show() }
        guard !found.isEmpty else { return }
        violations += 1
        say("\(choice.arguments): \(found.joined(separator: "; "))")
        guard shrinks else { return }
        let shortest = runner.shortest(of: choice)
        say("the shortest history, \(shortest.arguments): \(runner.perform(shortest).joined(separator: "; "))")
        Story(runner.journal).show()
    }

    /// Ends the first process at each durable step whose number `distance` divides, until it has no such step.
    mutating func performSteps(_ choice: Choice, _ distance: UInt64) {
        var choice = choice
        choice.leftOutFaults = .max
        for step in stride(from: distance, to: UInt64.max, by: Int(distance)) {
            choice.lastStep = step
            for isPowerCut in [false, true] {
                choice.isPowerCut = isPowerCut
                perform(choice)
            }
            // The machine was started again only if the power failed at the step.
            if runner.journal.boots == 1 { return }
        }
    }

    /// Lets each call of the first process fail whose number `distance` divides, until it has no such call.
    mutating func performCalls(_ choice: Choice, _ distance: UInt64) {
        var choice = choice
        choice.leftOutFaults = .max
        for call in stride(from: distance, to: UInt64.max, by: Int(distance)) {
            choice.failedCall = call
            perform(choice)
            if !runner.journal.all.contains(where: { $0.kind == .systemCallFails }) { return }
        }
    }

    func report() { say("\(runs) runs, \(simulated / hour) simulated hours, \(violations) with a violation") }
}
