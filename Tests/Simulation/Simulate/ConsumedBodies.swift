import Glibc

extension History {
    /// The files of some uploads are consumed: the engine moves them into the store, and returns those that it has not
    /// sent. More of these uploads fail, so that files are returned.
    mutating func addConsumedBodies(_ generator: Random) {
        var random = generator
        for index in tasks.indices where tasks[index].upload != nil && random.chance(35) {
            tasks[index].upload?.source = .consume
            tasks[index].upload?.bodyChanges = []
            tasks[index].kept = random.chance(50) ? .claim : .drop
            if random.chance(30) { tasks[index].resource.isMissing = true }
            // The files are recognized by their content.
            tasks[index].size = max(64, tasks[index].size)
        }
    }
}

extension Checks {
    /// A consumed file has exactly one place: in the store, at its old path, or at the path to which it was claimed. It
    /// is removed after success.
    func violationsOfConsumedFile(_ plan: TaskPlan, _ end: Observation) -> [String] {
        guard plan.upload?.source == .consume else { return [] }
        let places = places(of: plan)
        // Without an inspection, the removal of a name may be left to the next engine.
        let count = history.isInspected ? places.count : Set(places.map(\.inode)).count
        if end.kind == .taskSucceeds {
            guard history.isInspected, count > 0 else { return [] }
            return ["the consumed file of task \(plan.number) is left at \(places.map(\.path))"]
        }
        if count == 1 { return [] }
        return ["the consumed file of task \(plan.number) is at \(count) places: \(places.map(\.path))"]
    }

    /// The files that have the content of a task's file.
    private func places(of plan: TaskPlan) -> [(path: String, inode: UInt64)] {
        let returned = "\(plan.number).~"
        let names = Leftovers.names("\(folder)/files").filter {
            $0 == "\(plan.number)" || $0 == plan.claimedName || $0.hasPrefix(returned)
        }
        let paths = names.map { "files/\($0)" } + Leftovers.names("\(folder)/store/bodies").map { "store/bodies/\($0)" }
        return paths.compactMap { path in
            var status = stat()
            guard stat("\(folder)/\(path)", &status) == 0, status.st_size == off_t(plan.size),
                File.version(plan, at: "\(folder)/\(path)") == .right(version: 0)
            else { return nil }
            return (path, UInt64(status.st_ino))
        }
    }

    /// The files that an engine has found without a task in the store. No other program changes the store, so each body
    /// has a task, or another name outside the store.
    var lostBodies: [String] { Leftovers.names("\(folder)/store/bodies/lost") }
}
