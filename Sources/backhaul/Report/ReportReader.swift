import Backhaul

/// Reads the tasks, attempts and waits of sessions for a report.
struct ReportReader {
    private(set) var data: ReportData

    init(title: String) { data = ReportData(title: title, madeMilliseconds: Clock.wallMilliseconds) }

    mutating func read(_ session: Session, _ name: String) throws(CommandError) {
        // A task whose end is acknowledged meanwhile is in both lists.
        var listed: Set<TaskID> = []
        try session.forEachPage(.all) { (tasks) throws(CommandError) in
            listed.formUnion(tasks.map(\.id))
            try add(tasks, session, name)
            return true
        }
        try session.forEachPageOfHistory { (tasks) throws(CommandError) in
            try add(tasks.filter { !listed.contains($0.id) }, session, name)
        }
    }

    private mutating func add(_ tasks: [TaskInfo], _ session: Session, _ name: String) throws(CommandError) {
        // The history may forget a task between two calls. Then the task has no attempts and no waits here.
        let ids = tasks.map(\.id)
        let attempts = try session.attempts(ids)
        let waits = try session.waits(ids)
        for task in tasks { data.add(task, session: name, attempts[task.id] ?? [], waits[task.id] ?? []) }
    }
}
