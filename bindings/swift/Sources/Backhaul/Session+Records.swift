/// Reads the attempts and the waits of many tasks in few calls.
extension Session {
    /// Returns the attempts of several tasks, by task. Each list is that of `attempts(_:)` for one task. Tasks without
    /// attempts, and tasks that are neither listed nor in the history, are left out.
    public func attempts(_ tasks: [TaskID]) async throws -> [TaskID: [Attempt]] {
        var records = RecordsByTask<Attempt>(tasks)
        while let ids = records.next {
            let (attempts, more) = try await run(.attempts(ids))
            records.add(attempts, more: more, task: \.taskID)
        }
        return records.found
    }

    /// Returns the wait records of several tasks, by task. Each list is that of `waits(_:)` for one task. Tasks without
    /// wait records, and tasks that are neither listed nor in the history, are left out.
    public func waits(_ tasks: [TaskID]) async throws -> [TaskID: [Wait]] {
        var records = RecordsByTask<Wait>(tasks)
        while let ids = records.next {
            let (waits, more) = try await run(.waits(ids))
            records.add(waits, more: more, task: \.taskID)
        }
        return records.found
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
