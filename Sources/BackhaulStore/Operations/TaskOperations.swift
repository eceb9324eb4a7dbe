public import BackhaulModel
internal import Glibc

/// Enqueues requests: stores each request as a task. Also reads tasks for the engine, which runs them.
public struct TaskOperations {
    let tables: Tables
    private var constraints: ConstraintOperations { ConstraintOperations(tables: tables) }
    private var options: OptionOperations { OptionOperations(tables: tables) }
    private var dependencies: DependencyOperations { DependencyOperations(tables: tables) }
    private var leftovers: LeftoverOperations { LeftoverOperations(tables: tables) }
    private var starts: StartOperations { StartOperations(tables: tables) }

    /// Makes one task for each request, or throws and makes no task. If a task with a request's idempotency key exists,
    /// that task is returned instead. The key of a succeeded task is valid until the event about the end of the task's
    /// round is acknowledged. An earlier acknowledgement of the event about the task itself does not matter. The first
    /// enqueue after the end of a round begins the next round.
    ///
    /// `now` is the present time as in `StartClock.calendar`; `clock` is used for earliest and latest starts.
    /// `isLaunched` is true if the caller is a launched host, and the session is configured to make the tasks of
    /// launched hosts discretionary. Discretionary tasks wait, for example, for external power. `aliases` has further
    /// paths that lead to the destination of a request, by the position of that request. `running` has the tasks that
    /// run at this moment.
    ///
    /// Throws keyConflict (the message names the field that differs), destinationInUse (the message names the other
    /// task) and destinationExists, each with the request's position as `index`. Also throws notFound, tooMany,
    /// invalidated and failures of SQLite.
    public func enqueue(
        _ requests: [(Request, Origin)], in session: SessionID, aliases: [Int: [String]] = [:], now: Int64,
        clock: ClockReading? = nil, isLaunched: Bool = false, running: Set<TaskID> = []
    ) throws(Failure) -> EnqueuedTasks {
        let round = try round(forEnqueueIn: session)
        var terms = EnqueueTerms(
            session: session, now: now, clock: clock ?? ClockReading(wall: now, boot: 0, bootID: ""),
            isLaunched: isLaunched)
        var results: [Enqueued] = []
        results.reserveCapacity(requests.count)
        var lanes = EnqueuedLanes()
        var lanesOfWaiting: Set<LaneID> = []
        var groups = EnqueuedGroups()
        var added: Int64 = 0
        let hasDelivered = try tables.delivered.hasAny(session)
        let hasRetainedParts = try tables.leftovers.hasRetained(in: session)
        for (request, origin) in requests {
            if hasDelivered, let key = request.idempotencyKey,
                let task = try tables.delivered.find(key, in: session)
            {
                results.append(Enqueued(task: task, disposition: .existing, state: .succeeded))
                continue
            }
            let lane = try lanes.find(origin) { () throws(Failure) in
                try tables.lanes.findOrInsert(session, origin)
            }
            let group = try groups.find(request) { (name) throws(Failure) in
                try tables.groups.findOrInsert(name, in: session)
            }
            // The result is nil if another task has the same idempotency key or destination.
            let task = try tables.tasks.insert(
                request, in: session, lane: lane, group: group, constraints: constraints(of: request, &terms),
                round: round.next, now: now)
            if let task {
                try tables.requests.insert(request, of: task)
                if request.hasOptions {
                    try starts.writeTimes(of: request, to: task, &terms)
                    try options.insert(request.options, of: task)
                }
                if hasRetainedParts {
                    try leftovers.continuePart(with: task, request, in: session, now: terms.clock.wall)
                }
                try checkDestinationIsFree(request, index: UInt64(results.count))
                for alias in aliases[results.count] ?? [] { try checkNoOtherTaskWrites(alias, results) }
                added += 1
                if let group { groups.added[group, default: 0] += 1 }
                if request.hasOptions, !request.options.dependencies.isEmpty {
                    try insertDependencies(of: request, of: task, index: UInt64(results.count), &terms)
                    if let moved = try tables.tasks.lane(of: task), moved != lane { lanesOfWaiting.insert(moved) }
                }
                if !request.startsSuspended { lanesOfWaiting.insert(lane) }
                results.append(Enqueued(task: task, disposition: .new))
            } else {
                results.append(try existing(request, session, results, running))
            }
        }
        let withdrawsEnd = added > 0 ? try RoundOperations(tables: tables).add(added, to: session, round) : false
        for (group, added) in groups.added { try tables.groups.count(enqueued: added, in: group) }
        // These groups got no new task, because the tasks of their requests already existed. A group without any task
        // is removed.
        try tables.groups.removeEmpty(among: groups.found.values.lazy.filter { groups.added[$0] == nil })
        // If a request's task has already ended, its lane may have no live task.
        // A task that has taken its URL from a response may have another lane.
        let mayBeEmpty = added < results.count || requests.contains { !$0.0.options.dependencies.isEmpty }
        if mayBeEmpty { try tables.lanes.removeEmpty(among: Set(lanes.found.values)) }
        return EnqueuedTasks(
            results: results, lanes: lanesOfWaiting, nextDue: terms.hasDelayed ? try tables.delays.nextDue() : nil,
            nextLatestStart: terms.hasLatestStart ? try tables.delays.nextLatestStart() : nil,
            withdrawsEnd: withdrawsEnd)
    }

    /// Returns the positions of the requests whose idempotency key belongs to an existing task. For these requests, the
    /// data to upload is not needed.
    public func positionsWithKnownKey(_ session: SessionID, _ requests: [Request]) throws(Failure) -> Set<Int> {
        var known: Set<Int> = []
        for (position, request) in requests.enumerated() {
            guard let key = request.idempotencyKey else { continue }
            var isKnown = try tables.tasks.hasKey(key, in: session)
            if !isKnown { isKnown = try tables.delivered.find(key, in: session) != nil }
            if isKnown { known.insert(position) }
        }
        return known
    }

    private func insertDependencies(
        of request: Request, of task: TaskID, index: UInt64, _ terms: inout EnqueueTerms
    ) throws(Failure) {
        do throws(Failure) {
            try dependencies.insert(request, of: task, in: terms.session, &terms)
        } catch {
            var failure = error
            failure.index = index
            throw failure
        }
    }

    private func round(forEnqueueIn session: SessionID) throws(Failure) -> SessionRound {
        guard let round = try tables.sessions.round(of: session) else { throw Failure.sessionNotFound }
        guard !round.isInvalidating else { throw Failure.invalidated(round.identifier) }
        return round
    }

    /// Throws when the directory of a new task does not exist, or when a file exists at its destination and the request
    /// does not permit this. The caller skips this check if a task with the idempotency key exists, because the file
    /// may belong to that task.
    private func checkDestinationIsFree(_ request: Request, index: UInt64) throws(Failure) {
        if let destination = request.destination, destination.isDirectoryAbsent {
            throw Failure(
                .destinationUnavailable, "the directory \(destination.directory) does not exist; make it",
                domain: .system, detail: Int64(ENOENT), index: index)
        }
        guard request.ifExists == .fail, let destination = request.destination, destination.fileExists else { return }
        throw Failure(
            .destinationExists,
            "a file with the name \(destination.path) exists already; remove it, or give if_exists "
                + "BH_IF_EXISTS_REPLACE",
            index: index)
    }

    /// Throws when a live task has the destination, because two tasks would overwrite each other's file. `results` has
    /// the results of the earlier requests of the same call.
    private func checkNoOtherTaskWrites(_ path: String, _ results: [Enqueued]) throws(Failure) {
        guard let found = try tables.tasks.find(destination: path) else { return }
        throw Failure(
            .destinationInUse,
            results.containsNew(found)
                ? "another request of this call has the same destination \(path); choose another"
                : "task \(found.rawValue) has the same destination \(path); choose another or cancel that task",
            index: UInt64(results.count))
    }

    /// Returns the task with the request's idempotency key, if that task's request is equal. Otherwise throws.
    private func existing(
        _ request: Request, _ session: SessionID, _ results: [Enqueued], _ running: Set<TaskID>
    ) throws(Failure) -> Enqueued {
        let index = UInt64(results.count)
        if let key = request.idempotencyKey, let row = try tables.tasks.find(key: key, in: session) {
            var found = row.enqueued
            // The transfer of a task that was set aside may still be stopping.
            if found.state == .waiting, !row.isAside, running.contains(found.task) { found.state = .running }
            var field = row.request.firstDifferingField(from: request)
            if field == nil {
                let options = row.hasOptions ? try self.options.find(of: found.task, stating: row.constraints) : nil
                field = (options ?? .none).firstDifferingField(from: request.options)
            }
            guard let field else { return found }
            let user = results.containsNew(found.task) ? "another request of this call" : "task \(found.task.rawValue)"
            // If a task has failed or was cancelled, its key is free after its own end is acknowledged. If a task has
            // succeeded, its key is free only after the end of the round is acknowledged.
            let isFreedByAcknowledgement = found.state == .failed || found.state == .cancelled
            let advice =
                isFreedByAcknowledgement
                ? "that task has failed or was cancelled: acknowledge the event about its end, or use another key"
                : "give each request a key of its own"
            throw Failure(
                .keyConflict, "the idempotency key was used for \(user) with another \(field); \(advice)", index: index)
        }
        if let path = request.destination?.path { try checkNoOtherTaskWrites(path, results) }
        throw Failure(.internal, "the store refused a task for no known reason; please report it", index: index)
    }

    private func constraints(of request: Request, _ terms: inout EnqueueTerms) throws(Failure) -> ConstraintsID {
        guard request.hasOptions || terms.isLaunched else { return .session }
        var constraints = TaskConstraints(isLaunched: terms.isLaunched)
        if request.hasOptions {
            constraints.stated = request.options.policy.constraints
            if let latest = request.options.latestStartMilliseconds, latest <= terms.clock.wall {
                constraints.isPastLatestStart = true
            }
        }
        if let known = terms.known[constraints] { return known }
        let id = try self.constraints.id(for: constraints, in: terms.session)
        terms.known[constraints] = id
        return id
    }

    /// Returns the waiting tasks with a finish intent: an earlier engine ended before the files of these tasks got
    /// their final names.
    public func withIntent() throws(Failure) -> [StoredTask] {
        var tasks: [StoredTask] = []
        for row in try tables.listing.storedWithIntent() { tasks.append(try options.task(row)) }
        return tasks
    }

    /// Returns the task in any state, or nil when there is no task with this id.
    public func find(_ id: TaskID) throws(Failure) -> TaskRecord? {
        guard let row = try tables.listing.record(id, tables.directory) else { return nil }
        return TaskRecord(
            task: try options.task(row.stored), state: row.state, outcome: row.state.hasEnded ? row.outcome : nil)
    }

    // MARK: Resource time-outs

    // A task has its own resource time-out, or that of its session. While a condition, such as a missing network, holds
    // tasks, both kinds of time-outs are read often. So each kind has an index.

    /// Returns up to `limit` tasks of the session whose resource time-out has passed: waiting, delayed and running
    /// tasks. `now` is the present time as in `StartClock.calendar`.
    public func overdue(of session: SessionID, limit: Int, now: Int64) throws(Failure) -> [StoredTask] {
        var ids = try tables.readyTasks.overdue(of: session, now: now, limit: limit)
        // If the subtraction overflows, the session's time-out cannot have passed for any task.
        let (age, isForEver) = now.subtractingReportingOverflow(try timeout(of: session))
        if !isForEver {
            ids += try tables.readyTasks.enqueued(of: session, before: age, limit: max(0, limit - ids.count))
        }
        return try options.tasks(ids)
    }

    /// Returns when the next resource time-out of a waiting task of the session ends, as a time of
    /// `StartClock.calendar`.
    public func nextTimeoutEnd(of session: SessionID) throws(Failure) -> Int64? {
        let own = try tables.readyTasks.nextOwnTimeoutEnd(of: session)
        guard let oldest = try tables.readyTasks.oldest(of: session) else { return own }
        let (end, isForEver) = oldest.addingReportingOverflow(try timeout(of: session))
        return isForEver ? own : min(own ?? end, end)
    }

    private func timeout(of session: SessionID) throws(Failure) -> Int64 {
        try tables.sessions.resourceTimeout(of: session) ?? .max
    }
}

/// The lanes of one call's requests.
private struct EnqueuedLanes {
    var found: [Origin: LaneID] = [:]
    private var last: (origin: Origin, lane: LaneID)?

    mutating func find(_ origin: Origin, make: () throws(Failure) -> LaneID) throws(Failure) -> LaneID {
        // Consecutive requests mostly have the same origin.
        if let last, last.origin == origin { return last.lane }
        let lane = if let known = found[origin] { known } else { try make() }
        found[origin] = lane
        last = (origin, lane)
        return lane
    }
}

/// The groups of one call's requests. The keys are bytes, as in the database, because Swift compares strings by
/// canonical equivalence.
private struct EnqueuedGroups {
    var found: [[UInt8]: GroupID] = [:]
    var added: [GroupID: Int64] = [:]

    mutating func find(
        _ request: Request, make: (String) throws(Failure) -> GroupID
    ) throws(Failure) -> GroupID? {
        guard request.hasOptions, let name = request.options.group else { return nil }
        let key = Array(name.utf8)
        if let group = found[key] { return group }
        let group = try make(name)
        found[key] = group
        return group
    }
}

extension Request {
    /// Returns the name that the first differing field has in include/backhaul.h, or nil if no field differs. The
    /// device of the destination's directory is ignored, because it may change with each boot. The first state is
    /// ignored, because the program may have suspended or resumed the task since. Two default modes are not compared,
    /// because they differ only in the umask of the host.
    fileprivate func firstDifferingField(from request: Request) -> String? {
        if !url.utf8.elementsEqual(request.url.utf8) { return "url" }
        let (path, other) = (destination?.path ?? "", request.destination?.path ?? "")
        if !path.utf8.elementsEqual(other.utf8) { return "destination" }
        if ifExists != request.ifExists { return "if_exists" }
        if mode != request.mode, !(mode.isDefault && request.mode.isDefault) { return "mode" }
        if headers != request.headers { return "headers" }
        if userData != request.userData { return "user_data" }
        return nil
    }
}

extension [Enqueued] {
    /// Whether this call has made the task. If the call throws, that task will not exist.
    fileprivate func containsNew(_ task: TaskID) -> Bool { contains { $0.task == task && $0.disposition == .new } }
}
