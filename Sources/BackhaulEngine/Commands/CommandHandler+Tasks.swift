internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

extension CommandHandler {
    func enqueue(_ requests: [Request], into session: SessionID) throws(Failure) {
        var checked: [(Request, Origin)] = []
        checked.reserveCapacity(requests.count)
        var intake = RequestIntake()
        for (index, request) in requests.enumerated() {
            do {
                checked.append((request, try intake.check(request)))
                if let configuration = core.sessions[session] { try RequestCheck.check(request, in: configuration) }
                if let destination = request.destination { try core.files.checkIsOutside(destination) }
            } catch {
                var failure = error
                failure.index = UInt64(index)
                throw failure
            }
        }
        let items = checked
        inspect(requests) { handler in handler.takeBodies(items, into: session) }
    }

    /// Asks the disk about each directory once, unless client and engine are one process. A refusal names the request.
    func inspect(_ requests: [Request], then: @escaping @Sendable (CommandHandler) -> Void) {
        guard !connection.isLocal else { return then(self) }
        var seen: Set<DirectoryIdentity> = []
        var positions: [Int] = []
        for (index, request) in requests.enumerated() {
            guard let destination = request.destination else { continue }
            if seen.insert(DirectoryIdentity(destination)).inserted { positions.append(index) }
        }
        guard !positions.isEmpty else { return then(self) }
        connection.isInspecting = true
        let (id, sequence, answeredThrough) = (connection.id, sequence, answeredThrough)
        let (outbox, first) = (core.services.outbox, positions)
        core.services.disk.inspect(positions.compactMap { requests[$0].destination }) { failure in
            outbox.post { core in
                guard let connection = core.clients[id] else { return }
                connection.isInspecting = false
                if var failure {
                    failure.index = failure.index.map { UInt64(first[Int($0)]) }
                    connection.reply(sequence, .failed(failure))
                } else {
                    then(
                        CommandHandler(
                            core: core, connection: connection, sequence: sequence, answeredThrough: answeredThrough))
                }
                core.receiveHeld(by: connection)
            }
        }
    }

    /// `with`: is done in the same transaction. `settle`: has to be done before the answer.
    func insert(
        _ items: [(Request, Origin)], into session: SessionID,
        with: @escaping @Sendable (Transaction, [Enqueued]) throws(Failure) -> Void = { _, _ in },
        settle: Settlement? = nil
    ) {
        let hasPriority = items.contains { $0.0.priority > 0 }
        core.calendar.look()
        let now = core.calendar.milliseconds
        let clock = CalendarWatch.readClock()
        let isLaunched =
            connection.hello?.launch != nil && core.sessions[session]?.isDiscretionaryIfLaunched == true
        let enqueued = Lock(EnqueuedTasks())
        let aliases = aliases(of: items)
        let hasKey = items.contains { $0.0.idempotencyKey != nil }
        let running = hasKey ? core.transfers.tasks(of: session) : []
        once({ (transaction) throws(Failure) in
            let applied = try transaction.enqueue(
                session: session, items, aliases: aliases, now: now, clock: clock, isLaunched: isLaunched,
                running: running)
            enqueued.withLock { $0 = applied }
            try with(transaction, applied.results)
            return (.enqueued(applied.results), nil)
        }, then: { core, _ in
            CrashPoint.afterEnqueue.reach()
            let enqueued = enqueued.withLock { $0 }
            core.scheduler.tasksWait(in: enqueued.lanes, reload: hasPriority)
            core.scheduler.due(at: enqueued.nextDue)
            core.apply(core.deadlines.latestStart(at: enqueued.nextLatestStart))
        }, settle: settle)
    }

    /// The other paths of each file that has any.
    private func aliases(of items: [(Request, Origin)]) -> [Int: [String]] {
        var found: [Int: [String]] = [:]
        for (index, (request, _)) in items.enumerated() where !request.options.isNamedByServer {
            guard let destination = request.destination else { continue }
            let others = core.directoryAliases.others(of: destination)
            if !others.isEmpty { found[index] = others }
        }
        return found
    }

    func acknowledge(_ acknowledgement: Acknowledgement, in session: SessionID) {
        let returns = Lock(false)
        once({ (transaction) throws(Failure) in
            let change = try transaction.acknowledge(session, acknowledgement)
            return (.count(UInt64(change.count)), change)
        }, then: { core, change in
            guard let change else { return }
            CrashPoint.afterAcknowledge.reach()
            if !change.removedKept.isEmpty { core.leftovers.sweep() }
            if change.sessionRemoved { core.removed(change) }
            returns.withLock { $0 = change.returnsBodies }
        }, settle: { core, answer in
            // Whoever has the answer finds his files.
            guard returns.withLock(\.self) else { return answer(core) }
            core.requestBodies.giveBack { [unowned core] in
                answer(core)
                return []
            }
        })
    }

    func list(_ selection: TaskSelection, after: TaskID, maximum: Int, of session: SessionID) {
        let running = core.transfers.tasks(of: session)
        let (id, sequence) = (connection.id, sequence)
        core.store({ (transaction) throws(Failure) in
            try transaction.taskInfos(
                session, selection, after: after, maximum: maximum, running: running,
                bootMilliseconds: Clock.bootMilliseconds, now: Clock.wallMilliseconds)
        }, then: { core, result in
            core.clients.reply(id, sequence, result.map { listing in
                var tasks: [TaskInfo] = []
                tasks.reserveCapacity(listing.tasks.count)
                // In place: a copy of a task has many parts.
                for (index, place) in listing.places.enumerated() {
                    tasks.append(listing.tasks[index])
                    core.transfers[tasks[index].id]?.addProgress(to: &tasks[index])
                    core.explainer.explain(&tasks[index], place, of: session)
                }
                let fitting = Wire.countThatFits(tasks)
                if fitting == tasks.count { return .tasks(tasks, more: listing.more) }
                return .tasks(Array(tasks.prefix(fitting)), more: true)
            })
        })
    }

    func control(_ control: TaskControl, _ selection: TaskSelection, in session: SessionID) {
        let running = core.transfers.tasks(of: session)
        core.calendar.look()
        let calendar = core.calendar.milliseconds
        let held = control == .resume ? core.probes.heldByUplink(of: session) : [:]
        once({ (transaction) throws(Failure) in
            let change = try transaction.control(
                session, control, selection, running: running, now: Clock.wallMilliseconds, calendar: calendar,
                bootMilliseconds: Clock.bootMilliseconds, held: held)
            return (.count(change.count + change.held), change)
        }, then: { core, change in
            guard let change else { return }
            switch control {
            case .cancel: core.apply(change, tasksEndedOrStopped: .cancel)
            case .suspend: core.apply(change, tasksEndedOrStopped: .leave)
            case .resume:
                core.apply(core.reachability.tryNow(change.lanes))
                if change.held > 0 { core.apply(core.uplink.tryAtOnce()) }
                core.apply(change)
                core.scheduler.due(at: change.nextDue)
            case .setRate(let rate):
                core.setRate(rate, of: change.tasks)
                core.apply(change)
            case .setConstraints:
                core.apply([.restated(change.restated)])
                core.scheduler.tasksWait(in: change.lanes, reload: true)
                core.apply(change)
            case .reschedule:
                core.apply([.restated(change.restated)])
                core.scheduler.tasksWait(in: change.lanes, reload: true)
                core.apply(change)
                core.scheduler.due(at: change.nextDue)
                core.apply(core.deadlines.latestStart(at: change.restated.next))
            case .setPriority(let priority):
                for id in change.tasks { core.transfers[id]?.attempt.task.request.priority = priority }
                core.scheduler.tasksWait(in: change.lanes, reload: true)
                core.apply(change)
            }
        })
    }

    /// Moves the kept file first and records it then: after a crash in between, the repeated claim finds the file
    /// moved.
    func claim(
        _ task: TaskID, _ destination: Destination, _ ifExists: ExistsPolicy, in session: SessionID
    ) throws(Failure) {
        try core.files.checkIsOutside(destination)
        let (id, sequence) = (connection.id, sequence)
        let directory = core.services.directory
        core.store({ (transaction) throws(Failure) -> (TaskRecord, path: String, size: UInt64)? in
            guard try !transaction.checkClaim(task, session: session, path: destination.path) else { return nil }
            guard let record = try transaction.task(task) else { return nil }
            if record.outcome?.state != .succeeded, let consumed = try transaction.consumedFile(of: task) {
                return (record, directory.bodyFile(named: consumed.name), consumed.size)
            }
            return (record, directory.keptFile(of: task), record.outcome?.size ?? 0)
        }, then: { core, result in
            switch result {
            case .failure(let failure): core.clients.reply(id, sequence, .failure(failure))
            case .success(nil): core.clients.reply(id, sequence, .success(.done))
            case .success(let (record, path, size)?):
                let outbox = core.services.outbox
                let target = PartLocation(
                    destination: destination, partName: core.files.partName(of: task, record.task.part),
                    mode: record.task.request.mode, replace: ifExists == .replace)
                core.services.disk.moveKept(from: path, to: target, size: size) { moved in
                    outbox.post { core in
                        switch moved {
                        case .failure(let failure): core.clients.reply(id, sequence, .failure(failure))
                        case .success:
                            core.store({ (transaction) throws(Failure) in
                                try transaction.recordClaim(task, path: destination.path)
                            }, then: { core, result in core.clients.reply(id, sequence, result.map { .done }) })
                        }
                    }
                }
            }
        })
    }
}

/// A directory as the host saw it.
private struct DirectoryIdentity: Hashable {
    private let device: UInt64
    private let inode: UInt64

    init(_ destination: Destination) {
        device = destination.directoryDevice
        inode = destination.directoryInode
    }
}

extension EngineCore {
    func receiveHeld(by connection: ClientConnection) {
        while !connection.isInspecting, let message = connection.takeHeld() { received(message, from: connection.id) }
    }

}
