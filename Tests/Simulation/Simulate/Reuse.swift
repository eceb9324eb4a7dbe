import CBackhaul
import CSimulation
import Glibc

extension History {
    /// Some tasks take the idempotency key of a task that has ended without success. Some programs make another file at
    /// the old path of a consumed file.
    mutating func addReuse(_ generator: Random) {
        var random = generator
        guard random.chance(50) else { return }
        for index in tasks.indices where tasks[index].upload?.source == .consume && random.chance(60) {
            tasks[index].pathTaken = tasks[index].time + random.magnitude(1...600 * second)
        }
        for index in tasks.indices where random.chance(30) && isAlone(tasks[index]) {
            let others = tasks.filter { mayLeaveKey($0, to: tasks[index]) }
            if !others.isEmpty { tasks[index].keyOwner = random.pick(others).number }
        }
    }

    private func isAlone(_ plan: TaskPlan) -> Bool { plan.chain == nil && followers(of: plan).isEmpty }

    private func mayLeaveKey(_ owner: TaskPlan, to plan: TaskPlan) -> Bool {
        owner.program == plan.program && owner.number < plan.number && isAlone(owner)
            && (owner.mayBeCancelled || owner.resource.isMissing || owner.kind == .post)
            && !tasks.contains { $0.keyOwner == owner.number }
    }
}

/// A program that uses keys and paths again.
extension Program {
    /// Whether the task has no key yet, because another task has not ended.
    func waitsForKey(_ plan: TaskPlan) -> Bool {
        plan.keyOwner.flatMap(history.plan).map { !ended.contains($0.number) } ?? false
    }

    /// Chooses the task whose idempotency key the request has: the task itself if the owner has succeeded, or if the
    /// acknowledgement of its event was not confirmed.
    func chooseKey(for plan: TaskPlan) -> Int {
        guard let owner = plan.keyOwner else { return plan.number }
        // The call may be repeated, because it has failed after its commit.
        if let chosen = journal.all.first(where: { $0.kind == .keyIsChosen && $0.task == plan.number }) {
            return Int(chosen.first)
        }
        guard accepted[plan.number] == nil else { return plan.number }
        let known = journal.all.filter { $0.task == owner }.map(\.kind)
        let isFree = known.contains(.isAcknowledged) && !known.contains(.taskSucceeds)
        record(.keyIsChosen, plan.number, first: Int64(isFree ? owner : plan.number))
        return isFree ? owner : plan.number
    }

    /// The number of the task of an event.
    func task(of event: bh_event) -> Int? {
        guard let owner = PreparedRequest.task(event.idempotency_key) else { return nil }
        let taken = journal.all.first {
            $0.kind == .keyIsChosen && $0.first == Int64(owner) && $0.task != owner
        }
        return taken.flatMap { event.task_id == accepted[owner] ? nil : $0.task } ?? owner
    }

    /// Makes other files at the old paths of consumed files.
    mutating func takeDuePaths() {
        for plan in tasks where plan.pathTaken.map({ $0 <= now }) == true && accepted[plan.number] != nil {
            guard triedPaths.insert(plan.number).inserted else { continue }
            world.machine.programReads = true
            let isTaken = File.makeOther(in: "\(folder)/files", "\(plan.number)")
            world.machine.programReads = false
            if isTaken { record(.pathIsTaken, plan.number) }
        }
    }

    /// When the program makes the next of these files; nil: there is none.
    var nextPath: Int64? {
        tasks.filter { accepted[$0.number] != nil && !triedPaths.contains($0.number) }
            .compactMap(\.pathTaken).map { max($0, now + second) }.min()
    }
}

extension File {
    /// Makes a file of the program with this name, if there is none. Returns whether it is durable.
    fileprivate static func makeOther(in folder: String, _ name: String) -> Bool {
        let file = open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else { return false }
        let isWritten = write(file, Content.other, Content.other.count) == Content.other.count && fsync(file) == 0
        close(file)
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let isNamed = fsync(directory) == 0
        close(directory)
        return isWritten && isNamed
    }
}

extension Checks {
    /// The file that a program makes at the old path of a consumed file stays as it is.
    func violationsOfTakenPath(_ plan: TaskPlan) -> [String] {
        guard observations.contains(where: { $0.kind == .pathIsTaken && $0.task == plan.number }),
            File.read("\(folder)/files/\(plan.number)") != Content.other
        else { return [] }
        return ["the file that a program has made at the old path of task \(plan.number) was replaced or removed"]
    }
}
