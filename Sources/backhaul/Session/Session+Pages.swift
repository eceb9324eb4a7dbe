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
        try records(of: tasks, task: \.taskID) { .attempts($0) }
    }

    /// The waits of many tasks, by task.
    func waits(_ tasks: [TaskID]) throws(CommandError) -> [TaskID: [Backhaul.Wait]] {
        try records(of: tasks, task: \.taskID) { .waits($0) }
    }

    private func records<Record>(
        of tasks: [TaskID], task: (Record) -> TaskID,
        _ verb: ([TaskID]) -> Verb<Backhaul.Session, (records: [Record], more: Bool)>
    ) throws(CommandError) -> [TaskID: [Record]] {
        var all = RecordsByTask<Record>(tasks)
        while let ids = all.next {
            let (records, more) = try run(verb(ids))
            all.add(records, more: more, task: task)
        }
        return all.found
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
