internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

/// The commands for tasks: enqueue (store new tasks), list, control, and claim (move a file out of the store, such as a
/// finished download).
struct TaskCommands {
    let call: CommandCall
    private var engine: EngineLoop { call.engine }

    func enqueue(_ requests: [Request], into session: SessionID) throws(Failure) {
        var checked: [(Request, Origin)] = []
        checked.reserveCapacity(requests.count)
        let configuration = engine.base.sessions[session]
        var intake = RequestIntake()
        for (index, request) in requests.enumerated() {
            do {
                checked.append((request, try intake.check(request, in: configuration)))
                if let configuration { try RequestCheck.check(request, in: configuration) }
                if let destination = request.destination { try engine.base.files.checkIsOutside(destination) }
            } catch {
                var failure = error
                failure.index = UInt64(index)
                throw failure
            }
        }
        let insert = { [checked] in
            let checked = checked.map { (call.located($0.0), $0.1) }
            let bodies = BodyCommands(call: call)
            let needed = bodies.untaken(checked)
            if needed.isEmpty {
                self.insert(checked, into: session)
            } else {
                bodies.take(checked, at: needed, into: session)
            }
        }
        let uninspected = call.uninspected(requests)
        guard !uninspected.isEmpty else { return insert() }
        call.inspect(requests, at: uninspected, then: insert)
    }

    /// Inserts the tasks. `with` runs in the same transaction. `beforeReply` runs before the reply is sent.
    func insert(
        _ items: [(Request, Origin)], into session: SessionID,
        with: @escaping @Sendable (Transaction, [Enqueued]) throws(Failure) -> Void = { _, _ in },
        beforeReply: @escaping CommandCall.ReplyBarrier = { reply in reply() }
    ) {
        let priority = items.lazy.map { $0.0.priority }.max() ?? .min
        engine.base.calendar.check()
        let (now, clocks) = (engine.base.calendar.milliseconds, engine.runtime.clocks)
        let clock = clocks.reading
        let isLaunched =
            call.connection.hello?.launch != nil && engine.base.sessions[session]?.isDiscretionaryIfLaunched == true
        let enqueued = Lock(EnqueuedTasks())
        let aliases = aliases(of: items)
        let hasKey = items.contains { $0.0.idempotencyKey != nil }
        let hasOwnTimeout = items.contains { $0.0.options.policy.resourceTimeoutMilliseconds != nil }
        let running = hasKey ? engine.base.transfers.tasks(of: session) : []
        call.applyOnce(
            { (transaction) throws(Failure) in
                let applied = try transaction.tasks.enqueue(
                    items, in: session, aliases: aliases, now: transaction.calendar(now, clocks), clock: clock,
                    isLaunched: isLaunched, running: running)
                enqueued.withLock { $0 = applied }
                try with(transaction, applied.results)
                return (.enqueued(applied.results), nil)
            },
            then: { _ in
                CrashPoint.afterEnqueue.reach()
                let enqueued = enqueued.withLock { $0 }
                engine.tasks.scheduler.tasksWait(in: enqueued.lanes, reload: false, priority: priority)
                if hasOwnTimeout || enqueued.nextDue != nil { tasksWait(in: session, until: enqueued.nextDue) }
                engine.queue(engine.tasks.deadlines.latestStart(at: enqueued.nextLatestStart))
                if enqueued.withdrawsEnd { engine.queue(engine.clients.events.endWithdrawn(in: session)) }
            }, beforeReply: beforeReply)
    }

    /// Several paths may lead to one destination. Returns each destination's paths, except the path in its request. The
    /// key of an entry is the position of the destination's request in `items`. A destination with only one path is not
    /// in the result.
    private func aliases(of items: [(Request, Origin)]) -> [Int: [String]] {
        var found: [Int: [String]] = [:]
        for (index, (request, _)) in items.enumerated() where !request.options.isNamedByServer {
            guard let destination = request.destination else { continue }
            let others = engine.base.files.otherPaths(of: destination)
            if !others.isEmpty { found[index] = others }
        }
        return found
    }

    func list(_ selection: TaskSelection, after: TaskID, maximum: Int, of session: SessionID) {
        let running = engine.base.transfers.tasks(of: session)
        call.read(
            { [clocks = engine.runtime.clocks] (transaction) throws(Failure) in
                try transaction.listing.tasks(
                    of: session, selection, after: after, maximum: maximum, running: running,
                    bootMilliseconds: clocks.bootMilliseconds, now: clocks.wallMilliseconds)
            },
            reply: { listing in
                var tasks: [TaskInfo] = []
                tasks.reserveCapacity(listing.tasks.count)
                // Each task is changed in place, because copying a task is slow.
                for (index, facts) in listing.facts.enumerated() {
                    tasks.append(listing.tasks[index])
                    engine.base.transfers[tasks[index].id]?.addProgress(to: &tasks[index])
                    engine.explainer.explain(&tasks[index], facts, of: session)
                }
                let fitting = Wire.countThatFits(tasks)
                if fitting == tasks.count { return .tasks(tasks, more: listing.more) }
                return .tasks(Array(tasks.prefix(fitting)), more: true)
            })
    }

    func control(_ control: TaskControl, _ selection: TaskSelection, in session: SessionID) {
        // The waiting ends are stored first, so that the command does not cancel a task that has ended.
        engine.tasks.endings.flush()
        let running = engine.base.transfers.tasks(of: session)
        engine.base.calendar.check()
        let (calendar, clocks) = (engine.base.calendar.milliseconds, engine.runtime.clocks)
        let held = control == .resume ? engine.conditions.holds.heldByUplink(of: session) : [:]
        call.applyOnce(
            { (transaction) throws(Failure) in
                let change = try transaction.control.apply(
                    control, to: selection, of: session, running: running, now: clocks.wallMilliseconds,
                    calendar: transaction.calendar(calendar, clocks), bootMilliseconds: clocks.bootMilliseconds,
                    held: held)
                return (.count(change.count + change.held), change)
            },
            then: { change in
                guard let change else { return }
                switch control {
                case .cancel: engine.apply(change, tasksEndedOrStopped: .cancel)
                case .suspend: engine.apply(change, tasksEndedOrStopped: .stop)
                case .setAside:
                    engine.apply(change, tasksEndedOrStopped: .stop)
                    tasksWait(in: session, until: change.nextDue)
                case .resume:
                    engine.queue(engine.tasks.reachability.retryNow(change.lanes))
                    if change.held > 0 { engine.queue(engine.conditions.probeUplinkNow()) }
                    // A resumed task may be older than the loaded tasks.
                    engine.tasks.scheduler.tasksWait(in: change.lanes, reload: true)
                    engine.apply(change)
                    tasksWait(in: session, until: change.nextDue)
                case .setRate(let rate):
                    engine.setRate(rate, ofTasks: change.tasks)
                    engine.apply(change)
                case .setConstraints:
                    engine.queue([.restated(change.restated)])
                    engine.tasks.scheduler.tasksWait(in: change.lanes, reload: true)
                    engine.apply(change)
                case .reschedule:
                    engine.queue([.restated(change.restated)])
                    engine.tasks.scheduler.tasksWait(in: change.lanes, reload: true)
                    engine.apply(change)
                    tasksWait(in: session, until: change.nextDue)
                    engine.queue(engine.tasks.deadlines.latestStart(at: change.restated.next))
                case .setPriority(let priority):
                    engine.base.transfers.change(change.tasks) { $0.request.priority = priority }
                    engine.tasks.scheduler.tasksWait(in: change.lanes, reload: true)
                    engine.apply(change)
                }
            })
    }

    /// Notes when the next delayed task is due. A task may wait until after its resource time-out, for its earliest
    /// start or behind other tasks, so these time-outs are watched.
    private func tasksWait(in session: SessionID, until due: Int64?) {
        engine.tasks.scheduler.due(at: due)
        engine.tasks.deadlines.tasksHeld(of: session)
    }

    /// Records the identity of the file (the claim's intent), moves the file out of the store, and then records the
    /// claim. The file is a kept file (a finished download) or a *consumed* file. A consumed file was moved into the
    /// store for an upload, which has ended without success. If the engine crashes between these steps, the repeated
    /// claim recognizes the moved file by its identity.
    func claim(
        _ task: TaskID, _ destination: Destination, _ ifExists: ExistsPolicy, in session: SessionID
    ) throws(Failure) {
        try engine.base.files.checkIsOutside(destination)
        let directory = engine.services.directory
        engine.runtime.store(
            { (transaction) throws(Failure) -> (TaskRecord, path: String, intent: FinishIntent?)? in
                let isClaimed = try transaction.destinations.checkClaim(task, session: session, path: destination.path)
                guard !isClaimed else { return nil }
                guard let record = try transaction.tasks.find(task) else { return nil }
                let intent = try transaction.destinations.claimIntent(of: task)
                if record.outcome?.state != .succeeded, let consumed = try transaction.bodies.storedFile(of: task) {
                    return (record, directory.bodyFile(named: consumed), intent)
                }
                return (record, directory.keptFile(of: task), intent)
            },
            then: { result in
                switch result {
                case .failure(let failure): call.reply(.failure(failure))
                case .success(nil): call.reply(.success(.done))
                case .success(let (record, path, intent)?):
                    let target = PartLocation(
                        destination: destination, partName: engine.base.files.partName(record.task.part),
                        mode: record.task.request.mode, replace: ifExists == .replace)
                    let moved = engine.runtime.returning { (moved: Result<Void, Failure>) in
                        // The copy of an interrupted claim to another path is a leftover now.
                        if intent != nil { engine.housekeeping.leftovers.sweep() }
                        switch moved {
                        case .failure(let failure): call.reply(.failure(failure))
                        case .success:
                            engine.runtime.store(
                                { (transaction) throws(Failure) in
                                    try transaction.destinations.recordClaim(task, path: destination.path)
                                },
                                then: { result in
                                    call.reply(result.map { .done })
                                    return []
                                })
                        }
                        return []
                    }
                    engine.services.disk.moveKept(
                        from: path, to: target, intent: intent,
                        record: { [store = engine.services.store] intent, recorded in
                            store.perform(
                                { (transaction) throws(Failure) in
                                    try transaction.destinations.recordClaimIntent(
                                        task, intent, session: session, path: destination.path)
                                }, then: recorded)
                        }, then: moved)
                }
                return []
            })
    }
}
