import CBackhaul
import CSimulation

/// A call that cancels all tasks of a group.
struct GroupCancel: Equatable {
    var program: Int
    var group: Int
    var time: Int64
}

/// How many tasks of a group have ended in each way.
struct GroupCounts: Equatable, CustomStringConvertible {
    var succeeded: Int64 = 0
    var failed: Int64 = 0
    var cancelled: Int64 = 0

    var description: String { "\(succeeded) succeeded, \(failed) failed, \(cancelled) cancelled" }

    static func += (sum: inout GroupCounts, other: GroupCounts) {
        sum.succeeded += other.succeeded
        sum.failed += other.failed
        sum.cancelled += other.cancelled
    }
}

extension GroupCounts {
    init(of ends: [Observation]) {
        func count(_ kind: Observation.Kind) -> Int64 { Int64(ends.count { $0.kind == kind }) }
        self.init(
            succeeded: count(.taskSucceeds), failed: count(.taskFails), cancelled: count(.taskWasCancelled))
    }
}

/// What a program remembers of its groups.
struct GroupProgress {
    /// The positions of the cancels that were performed (`History.groupCancels`).
    var cancelled: Set<Int> = []
    /// The tasks that were accepted before the last poll that returned all events. An event that this poll did not
    /// return was made after these tasks were accepted.
    var settled: Set<Int> = []
}

extension History {
    /// The groups of each program.
    static let groups = 0..<3

    static func name(ofGroup group: Int) -> String { "album \(group)" }

    /// In some histories, tasks are in groups, and groups are cancelled.
    mutating func addGroups(_ generator: Random) {
        var random = generator
        guard random.chance(40) else { return }
        for index in tasks.indices where random.chance(80) {
            tasks[index].group = Int(random.int(0...Int64(Self.groups.upperBound) - 1))
        }
        for _ in 0..<(random.chance(50) ? random.int(1...3) : 0) {
            let task = random.pick(tasks)
            let time = task.time + random.magnitude(1...random.pick([second, 600 * second]))
            guard let group = task.group else { continue }
            groupCancels.append(GroupCancel(program: task.program, group: group, time: time))
        }
        // The cancel of a group would end a task in another way than the end of the task for which it waits.
        for index in tasks.indices where tasks[index].chain != nil && mayBeCancelled(withGroup: tasks[index]) {
            tasks[index].group = nil
        }
    }

    private func mayBeCancelled(withGroup plan: TaskPlan) -> Bool {
        groupCancels.contains { $0.program == plan.program && $0.group == plan.group }
    }
}

/// A program whose tasks are in groups.
extension Program {
    mutating func cancelDueGroups() {
        for (position, cancel) in groupCancels where cancel.time <= now && !groups.cancelled.contains(position) {
            select(group: cancel.group, library.tasks_cancel)
            groups.cancelled.insert(position)
            record(.groupIsCancelled, first: Int64(cancel.group), second: Int64(position))
        }
    }

    private var groupCancels: [(position: Int, cancel: GroupCancel)] {
        history.groupCancels.enumerated().filter { $0.element.program == number }.map { ($0.offset, $0.element) }
    }

    /// The time of the next cancel of a group; nil: there is none.
    var nextGroupCancel: Int64? {
        groupCancels.filter { !groups.cancelled.contains($0.position) }.map { max($0.cancel.time, now + second) }.min()
    }

    mutating func receiveGroup(_ event: bh_event) {
        let group = Self.group(of: event)
        let live = tasks.first {
            $0.group == group && groups.settled.contains($0.number) && !ended.contains($0.number)
        }
        // An event that comes again may be older than the task.
        if let live, !unacknowledged.contains(Int64(event.id)) {
            record(.groupFinishesEarly, live.number, first: Int64(event.id))
        }
        let counts = GroupCounts(
            succeeded: Int64(event.group_succeeded), failed: Int64(event.group_failed),
            cancelled: Int64(event.group_cancelled))
        record(.groupFinishes, first: Int64(event.id), second: Observation.packed(group ?? -1, counts))
    }

    /// Records an event of a task that names another group.
    func checkGroup(of event: bh_event, _ task: Int) {
        if Self.group(of: event) != history.plan(task)?.group { record(.groupIsWrong, task, first: Int64(event.id)) }
    }

    private static func group(of event: bh_event) -> Int? {
        guard let name = event.group.map({ String(cString: $0) }) else { return nil }
        return History.groups.first { History.name(ofGroup: $0) == name } ?? -1
    }
}

extension Observation {
    /// A group and its counts as one number.
    static func packed(_ group: Int, _ counts: GroupCounts) -> Int64 {
        Int64(group + 1) << 48 | counts.succeeded << 32 | counts.failed << 16 | counts.cancelled
    }

    /// The group that has finished, and its counts.
    var finishedGroup: (group: Int, counts: GroupCounts) {
        let counts = GroupCounts(
            succeeded: second >> 32 & 0xffff, failed: second >> 16 & 0xffff, cancelled: second & 0xffff)
        return (Int(second >> 48) - 1, counts)
    }
}

/// What must hold for tasks in groups.
extension Checks {
    var violationsOfGroups: [String] {
        (1...history.programs).flatMap { program in
            let finishes = observations.filter { $0.kind == .groupFinishes && $0.program == program }
            let names = Set(finishes.map(\.finishedGroup.group)).union(History.groups).sorted()
            return names.flatMap { group in
                violations(ofGroup: group, of: program, finishes.filter { $0.finishedGroup.group == group })
            }
        }
    }

    /// Each event of a group counts the ends of its tasks since the event before it. Both kinds of events have ids in
    /// the order of the commits.
    private func violations(ofGroup group: Int, of program: Int, _ finishes: [Observation]) -> [String] {
        let name = "group \(group) of program \(program)"
        let tasks = Set(history.tasks.filter { $0.program == program && $0.group == group }.map(\.number))
        let ends = Dictionary(grouping: observations.filter { tasks.contains($0.task) && $0.isEnd }, by: \.task)
            .compactMap(\.value.first)
        let counts = Dictionary(grouping: finishes, by: \.first).mapValues { Set($0.map(\.second)) }
        if counts.contains(where: { $0.value.count > 1 }) { return ["\(name) has an event with several counts"] }
        var counted = GroupCounts()
        for (id, finish) in Dictionary(grouping: finishes, by: \.first).sorted(by: { $0.key < $1.key }) {
            let now = finish[0].finishedGroup.counts
            if now == GroupCounts() { return ["\(name) has finished without a task"] }
            counted += now
            let expected = GroupCounts(of: ends.filter { $0.first < id })
            if counted != expected { return ["\(name) has counted \(counted), and not \(expected), until event \(id)"] }
            if comesAgain(finish[0]) { return ["\(name) finishes again after its event was acknowledged"] }
        }
        let expected = GroupCounts(of: ends)
        return counted == expected ? [] : ["\(name) has counted \(counted), and not \(expected)"]
    }

    /// Whether the task or its group was cancelled when the task may have existed.
    func wasCancelled(_ plan: TaskPlan) -> Bool {
        observations.contains { isCancel($0, of: plan) && $0.time >= plan.time }
    }

    private func isCancel(_ one: Observation, of plan: TaskPlan) -> Bool {
        one.kind == .groupIsCancelled && one.program == plan.program && plan.group.map { one.first == $0 } == true
            || one.kind == .taskIsCancelled && one.task == plan.number
    }

    /// Whether a request comes later than the cancel of its task. The removal of an upload is such a request, so
    /// uploads that can be continued are not checked.
    func requestsAfterCancel(_ plan: TaskPlan, _ own: [Observation]) -> Bool {
        guard plan.upload == nil else { return false }
        let accepted = observations.drop { $0.kind != .taskIsAccepted || $0.task != plan.number }
        guard let cancel = accepted.first(where: { isCancel($0, of: plan) }) else { return false }
        // A stopped engine may close its connections some seconds later.
        return own.contains { $0.kind == .request && $0.time > cancel.time + 30 * second }
    }
}
