import CBackhaul
import CSimulation

/// What a program does with a file that the engine has in the store at the end of a task. It is the file of a download
/// without a destination, or the consumed file of an upload without success.
enum KeptFilePlan {
    /// The program claims the file, and then acknowledges the event.
    case claim
    /// The program acknowledges the event, so the engine removes the file.
    case drop
}

extension TaskPlan {
    /// Whether the task has a file in the store after such an end.
    func hasStoredFile(after end: Observation.Kind) -> Bool {
        kept != nil && (end == .taskSucceeds) != isUpload
    }

    /// Whether the program claims this file.
    func isClaimed(after end: Observation.Kind) -> Bool {
        hasStoredFile(after: end) && kept == .claim
    }

    /// The name that the file has after the claim.
    var claimedName: String { isUpload ? "\(number).claimed" : "\(number)" }
}

extension History {
    /// In some histories, downloads have no destination.
    mutating func addKeptFiles(_ generator: Random) {
        var random = generator
        guard random.chance(40) else { return }
        for index in tasks.indices where tasks[index].kind == .download && random.chance(50) {
            tasks[index].kept = random.pick([.claim, .claim, .drop])
            tasks[index].replaces = false
        }
    }
}

extension Program {
    /// Reads the file of a task that has ended, and claims it if it is in the store. `isLast`: the event does not come
    /// again, because the program acknowledges it next.
    mutating func receiveFile(of plan: TaskPlan, _ event: bh_event, _ end: Observation.Kind, isLast: Bool) {
        guard plan.hasStoredFile(after: end) else {
            if end == .taskSucceeds, !plan.isUpload { checkFile(plan, at: path(plan.number)) }
            return
        }
        let given = event.path.map { String(cString: $0) } ?? ""
        guard plan.isClaimed(after: end) else { return checkFile(plan, at: given) }
        let destination = "\(folder)/files/\(plan.claimedName)"
        if has(.fileIsClaimed, plan), given != destination { record(.eventHasOldPath, plan.number) }
        // If a process was killed during its claim, the file may have its new path although the event does not.
        let isMoved = has(.claims, plan) && version(plan, at: given) == .missing
        checkFile(plan, at: isMoved ? destination : given)
        if isLast || random.chance(50) { claim(plan, event.task_id, to: destination) }
    }

    private mutating func claim(_ plan: TaskPlan, _ id: UInt64, to destination: String) {
        record(.claims, plan.number)
        check(library.task_claim(session, id, destination, bh_if_exists(BH_IF_EXISTS_FAIL), BH_WAIT_DEFAULT, &error))
        record(.fileIsClaimed, plan.number)
        checkFile(plan, at: destination)
    }

    private func has(_ kind: Observation.Kind, _ plan: TaskPlan) -> Bool {
        journal.all.contains { $0.kind == kind && $0.task == plan.number }
    }

    private func checkFile(_ plan: TaskPlan, at path: String) {
        switch version(plan, at: path) {
        case .right(let version): record(.fileIsRight, plan.number, first: Int64(version))
        case .wrong(let size): record(.fileIsWrong, plan.number, first: size)
        case .missing: record(.fileIsMissing, plan.number)
        }
    }

    private func version(_ plan: TaskPlan, at path: String) -> File.Finding {
        world.machine.programReads = true
        defer { world.machine.programReads = false }
        return File.version(plan, at: path)
    }
}

extension Checks {
    /// A file without a destination is in the store until its program claims it or acknowledges the event.
    func violationsOfKeptFile(_ plan: TaskPlan, _ end: Observation) -> [String] {
        let own = Set(observations.filter { $0.task == plan.number }.map(\.kind))
        let isOutside = isVersion(plan, "files/\(plan.claimedName)")
        if own.contains(.fileIsClaimed), !isOutside { return ["the claimed file of task \(plan.number) was lost"] }
        if !own.contains(.claims), isOutside {
            return ["task \(plan.number) has a file outside the store, and its program has not claimed it"]
        }
        guard end.kind == .taskSucceeds, !own.contains(.acknowledges), !isOutside else { return [] }
        let kept = Leftovers.names("\(folder)/store/kept").contains { isVersion(plan, "store/kept/\($0)") }
        return kept ? [] : ["the kept file of task \(plan.number) was lost"]
    }

    private func isVersion(_ plan: TaskPlan, _ name: String) -> Bool {
        if case .right = File.version(plan, at: "\(folder)/\(name)") { return true }
        return false
    }
}
