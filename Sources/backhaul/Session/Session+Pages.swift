import Backhaul

/// Reads lists of tasks in pages, because a session may have millions of tasks.
extension Session {
    private static let pageSize = 1000

    /// Calls `body` with each page of the selected tasks, until `body` returns false. The selection may have any number
    /// of ids.
    func forEachPage(
        _ selection: TaskSelection, after: TaskID? = nil, _ body: ([TaskInfo]) throws(CommandError) -> Bool
    ) throws(CommandError) {
        for ids in selection.ids.map(Session.pages) ?? [nil] {
            var page = selection
            page.ids = ids
            var cursor = after
            while true {
                let (tasks, more) = try run(.tasks(page, after: cursor, maximum: Session.pageSize))
                guard try body(tasks) else { return }
                guard more, let last = tasks.last else { break }
                cursor = last.id
            }
        }
    }

    /// Calls `body` with each page of the history. The first page starts after the task `after`.
    func forEachPageOfHistory(
        after: TaskID? = nil, _ body: ([TaskInfo]) throws(CommandError) -> Void
    ) throws(CommandError) {
        var cursor = after
        while true {
            let (tasks, more) = try run(.history(after: cursor, maximum: Session.pageSize))
            try body(tasks)
            guard more, let last = tasks.last else { return }
            cursor = last.id
        }
    }

    /// The attempts of many tasks, by task.
    func attempts(_ tasks: [TaskID]) throws(CommandError) -> [TaskID: [Attempt]] {
        var records = RecordsByTask<Attempt>(tasks)
        while let ids = records.next {
            let (attempts, more) = try run(.attempts(ids))
            records.add(attempts, more: more, task: \.taskID)
        }
        return records.found
    }

    /// The waits of many tasks, by task.
    func waits(_ tasks: [TaskID]) throws(CommandError) -> [TaskID: [Backhaul.Wait]] {
        var records = RecordsByTask<Backhaul.Wait>(tasks)
        while let ids = records.next {
            let (waits, more) = try run(.waits(ids))
            records.add(waits, more: more, task: \.taskID)
        }
        return records.found
    }

    /// Divides ids into lists of at most `pageSize` ids.
    static func pages(of ids: [TaskID]) -> [[TaskID]?] {
        stride(from: 0, to: ids.count, by: pageSize).map { Array(ids[$0..<min($0 + pageSize, ids.count)]) }
    }
}

extension TaskSelection {
    /// The states of tasks that have not ended.
    static let live: Set<TaskState> = [.waiting, .running, .suspended]
}
