import Testing

@testable import BackhaulFleet

/// All states that a task, two workers and a directory can reach, whatever is paused, killed or lost.
@Suite("All interleavings of two workers")
struct ExplorerTests {
    private struct Violation: Error {
        var rule: String
        var before: FleetModel
        var after: FleetModel
    }

    /// Visits all states. Throws if a step breaks a rule. Returns the number of states, and the ends among them.
    @discardableResult
    private func explore(_ start: FleetModel) throws(Violation) -> (states: Int, ends: Set<FleetTaskState>) {
        var seen: Set<FleetModel> = [start]
        var pending = [start]
        var ends: Set<FleetTaskState> = []
        while let state = pending.popLast() {
            for next in state.next() where seen.insert(next).inserted {
                if let rule = Self.brokenRule(state, next) {
                    throw Violation(rule: rule, before: state, after: next)
                }
                if next.task.hasEnded { ends.insert(next.task.state) }
                pending.append(next)
            }
        }
        return (seen.count, ends)
    }

    private static func brokenRule(_ before: FleetModel, _ after: FleetModel) -> String? {
        let task = after.task
        if task.ends != (task.hasEnded ? 1 : 0) { return "a task ends one time" }
        if before.destination != after.destination {
            if task.state != .publishing { return "a file gets its name before the task's end, and not later" }
            if after.destination != task.publishingRun { return "only the file that the database has chosen is placed" }
            if before.destination == FleetModel.foreignFile && !after.replaces { return "no other file is replaced" }
        }
        if task.state == .succeeded, after.destination != task.publishingRun {
            return "the file of a succeeded task is at its destination"
        }
        return nil
    }

    @Test(
        "no file is published by an old run, and no task ends twice",
        arguments: [(FleetModel.noFile, false), (FleetModel.noFile, true), (FleetModel.foreignFile, false)])
    func rules(destination: Int8, replaces: Bool) throws {
        let found = try explore(FleetModel(destination: destination, replaces: replaces))
        // The task has reached its ends in all ways that the model has.
        #expect(found.states > 20_000)
        #expect(found.ends == [destination == FleetModel.noFile ? .succeeded : .failed, .cancelled])
    }

    @Test("without the fence in the file system, a zombie publishes a file", arguments: [false, true])
    func withoutFence(replaces: Bool) {
        #expect(throws: Violation.self) {
            try explore(FleetModel(destination: FleetModel.noFile, replaces: replaces, isFenced: false))
        }
    }

    @Test("if the database accepted the writes of old runs, tasks would end wrongly")
    func oldRuns() {
        var model = FleetModel(destination: FleetModel.noFile, replaces: true)
        model.task.acceptsOldRuns = true
        #expect(throws: Violation.self) { try explore(model) }
    }
}
