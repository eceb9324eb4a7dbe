/// Reads the attempts and the waits of many tasks in few calls.
extension Session {
    /// Returns the attempts of several tasks, by task. Each list is that of `attempts(_:)` for one task. Tasks without
    /// attempts, and tasks that are neither listed nor in the history, are left out.
    public func attempts(_ tasks: [TaskID]) async throws -> [TaskID: [Attempt]] {
        try await records(of: tasks, task: \.taskID) { .attempts($0) }
    }

    /// Returns the wait records of several tasks, by task. Each list is that of `waits(_:)` for one task. Tasks without
    /// wait records, and tasks that are neither listed nor in the history, are left out.
    public func waits(_ tasks: [TaskID]) async throws -> [TaskID: [Wait]] {
        try await records(of: tasks, task: \.taskID) { .waits($0) }
    }

    private func records<Record: Sendable>(
        of tasks: [TaskID], task: (Record) -> TaskID,
        _ verb: ([TaskID]) -> Verb<Session, (records: [Record], more: Bool)>
    ) async throws -> [TaskID: [Record]] {
        var all = RecordsByTask<Record>(tasks)
        while let ids = all.next {
            let (records, more) = try await run(verb(ids))
            all.add(records, more: more, task: task)
        }
        return all.found
    }
}

/// The records of several tasks, which are read in parts.
package struct RecordsByTask<Record> {
    /// The most tasks of one call (bh_tasks_attempts).
    private static var mostTasks: Int { 1000 }

    package private(set) var found: [TaskID: [Record]] = [:]
    /// The tasks that are not read yet, the greatest id first.
    private var rest: [TaskID]

    package init(_ tasks: [TaskID]) { rest = Set(tasks).sorted { $0 > $1 } }

    /// The tasks of the next call. Nil if all tasks were read.
    package var next: [TaskID]? { rest.isEmpty ? nil : rest.suffix(Self.mostTasks).reversed() }

    /// Adds the records that a call for the tasks `next` has returned.
    package mutating func add(_ records: [Record], more: Bool, task: (Record) -> TaskID) {
        for record in records { found[task(record), default: []].append(record) }
        if more, let last = records.last.map(task) {
            while let next = rest.last, next <= last { rest.removeLast() }
        } else {
            rest.removeLast(min(Self.mostTasks, rest.count))
        }
    }
}
