public import BackhaulModel

/// Lists tasks from their rows. The engine adds what is not stored: the progress of running tasks (`addProgress`), and
/// why tasks wait (`WaitExplainer`).
public struct ListingOperations {
    let tables: Tables
    private var constraints: ConstraintOperations { ConstraintOperations(tables: tables) }

    /// Returns up to `maximum` selected tasks with ids greater than `after`, sorted by id. Ended tasks are included
    /// until the event about their end is acknowledged. The result ends early when its tasks have `Limits.chunkSize`
    /// bytes together. `more` is true if further tasks exist.
    ///
    /// `running` has the tasks that run at this moment. `bootMilliseconds` and `now` are the present time on the boot
    /// clock and on the wall clock. `facts` has the facts of each task in the result from which the engine
    /// explains why the task waits.
    public func tasks(
        of session: SessionID, _ selection: TaskSelection, after: TaskID, maximum: Int, running: Set<TaskID>,
        bootMilliseconds: Int64, now: Int64
    ) throws(Failure) -> (tasks: [TaskInfo], facts: [ListedTaskFacts], more: Bool) {
        var page = ListingPage<ListedTask>(maximum: min(max(0, maximum), Limits.batchCount))
        let moment = Moment(running: running, bootMilliseconds: bootMilliseconds, now: now)
        var group: GroupID?
        if let name = selection.group {
            group = try tables.groups.find(name, in: session)
            if group == nil { return ([], [], false) }
        }
        if let ids = selection.enumerated(running: running) {
            for id in ids.sorted() where id > after {
                guard try add(id, to: &page, session, selection, moment) else { break }
            }
        } else {
            try tables.selection.fill(running: running, for: selection.states)
            try tables.listing.each(
                of: session, group, in: selection.states, after: after, limit: page.limit
            ) { id throws(Failure) in
                try add(id, to: &page, session, selection, moment)
            }
            try tables.selection.clear()
        }
        return (try withConstraints(page.items), page.items.map(\.facts), page.more)
    }

    /// Fills in the constraints of those tasks that have constraints of their own. The constraints of the session are
    /// not filled in. Each row of constraints is read only one time.
    private func withConstraints(_ listed: [ListedTask]) throws(Failure) -> [TaskInfo] {
        var stated: [ConstraintsID: Boxed<Constraints>] = [:]
        for row in try constraints.stored(Set(listed.lazy.map(\.facts.constraints)))
        where row.constraints.stated != .none {
            stated[row.id] = Boxed(row.constraints.stated)
        }
        return listed.map { task, facts in
            var task = task
            task.constraints = stated[facts.constraints]
            return task
        }
    }

    private typealias ListedTask = (task: TaskInfo, facts: ListedTaskFacts)

    fileprivate struct Moment {
        var running: Set<TaskID>
        var bootMilliseconds: Int64
        var now: Int64
    }

    /// Adds the task to the page if it matches the selection. Returns false when the page is full.
    private func add(
        _ id: TaskID, to page: inout ListingPage<ListedTask>, _ session: SessionID, _ selection: TaskSelection,
        _ moment: Moment
    ) throws(Failure) -> Bool {
        guard let row = try tables.listing.info(id, of: session) else { return true }
        var info = row.info(at: moment, tables.directory)
        if info.reason == .dependency, let first = try tables.dependencies.predecessors(of: id).first {
            info.reasonText = "it waits until task \(first.rawValue) has succeeded"
        }
        guard selection.states.contains(TaskStates(info.state)),
            selection.group.map({ ($0.utf8.elementsEqual((info.group ?? "").utf8)) }) ?? true
        else { return true }
        return page.add((info, row.waitFacts), size: info.listedSize)
    }
}

extension TaskInfoRow {
    fileprivate func info(at moment: ListingOperations.Moment, _ files: StoreDirectory) -> TaskInfo {
        var info = info
        // The transfer of a task that was set aside may still be stopping.
        let isAside = dueReason == .suspended
        if info.state == .waiting, !isAside, moment.running.contains(info.id) { info.state = .running }
        let reason: WaitReason =
            switch info.state {
            case .suspended: .suspended
            case .waiting: due != nil ? dueReason : isFinishing ? .disk : .slot
            case .running: isFinishing ? .disk : .none
            default: .none
            }
        info.reason = reason
        info.reasonText =
            switch reason {
            case .credential: space?.sentence ?? reason.text
            // The message names the directory and the file system.
            case .storage: info.failure?.message ?? reason.text
            default: reason.text
            }
        if reason != .credential, reason != .suspended, reason != .dependency, let due {
            info.nextAttemptMilliseconds = moment.now &+ max(0, due &- moment.bootMilliseconds)
        }
        if info.state == .succeeded, info.kind == .download {
            info.path = path ?? info.destinationPath ?? files.keptFile(of: info.id)
        }
        return info
    }
}
