/// Reads lists of tasks in pages, because a session may have millions of tasks.
extension Session {
    private static let pageSize = 1000

    /// Calls `body` with each page of the selected tasks, until `body` returns false. The selection may have any number
    /// of ids.
    func forEachPage(
        _ selection: TaskSelection, _ body: ([TaskRecord]) throws(CommandError) -> Bool
    ) throws(CommandError) {
        // An empty list of ids selects all tasks.
        for ids in selection.ids.isEmpty ? [[]] : Session.pages(of: selection.ids) {
            var page = selection
            page.ids = ids
            var cursor: UInt64 = 0
            while true {
                let (tasks, more) = try tasks(page, after: cursor)
                guard try body(tasks) else { return }
                guard more, let last = tasks.last else { break }
                cursor = last.id
            }
        }
    }

    /// Calls `body` with each page of the history, which is the list of ended tasks. The first page starts after the
    /// task `after`.
    func forEachPageOfHistory(
        after: UInt64 = 0, _ body: ([TaskRecord]) throws(CommandError) -> Void
    ) throws(CommandError) {
        var cursor = after
        while true {
            let (tasks, more) = try history(after: cursor)
            try body(tasks)
            guard more, let last = tasks.last else { return }
            cursor = last.id
        }
    }

    /// Divides ids into lists of at most `pageSize` ids.
    static func pages(of ids: [UInt64]) -> [[UInt64]] {
        stride(from: 0, to: ids.count, by: pageSize).map { Array(ids[$0..<min($0 + pageSize, ids.count)]) }
    }
}
