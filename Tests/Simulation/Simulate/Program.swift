import CBackhaul
import CSimulation
import Glibc

/// The statuses with which a process of a run ends.
enum ProcessEnd {
    static let done: Int32 = 0
    static let restart: Int32 = 10
    static let failed: Int32 = 11
}

/// What the call-backs of the simulated system need. They are functions of C, so they cannot capture it.
final class World {
    let servers: Servers
    let machine: Machine
    let programs: Programs

    init(_ history: History, _ journal: Journal, folder: String) {
        servers = Servers(history, journal, start: journal.time)
        machine = Machine(history, journal, folder: folder)
        programs = Programs(history, journal, folder: folder)
    }
}

// Unsafe: one thread runs at a time.
nonisolated(unsafe) var world: World!

/// One process of a program that uses the library as its documentation says. It enqueues the tasks of the
/// history, reads the events and acknowledges them. It remembers in the journal what it has done, as a program would in
/// its own database.
struct Program {
    let number: Int
    let history: History
    let journal: Journal
    let folder: String
    /// The copy of the library in this process.
    let library: sim_library
    /// The tasks of this program.
    let tasks: [TaskPlan]
    private(set) var application: OpaquePointer?
    private(set) var session: OpaquePointer?
    var error = bh_error()
    private(set) var accepted: [Int: UInt64] = [:]
    private var cancelled: Set<Int> = []
    var groups = GroupProgress()
    private var suspended: Set<Int> = []
    private var resumed: Set<Int> = []
    /// How often the files of the tasks have changed.
    private var bodyChanges: [Int: Int] = [:]
    private(set) var ended: Set<Int> = []
    /// The greatest id of an event that was handled.
    private var cursor: UInt64 = 0
    /// The limit in the stored configuration; nil: it was never read.
    private var storedLimit: Int64?
    private(set) var isFinished = false
    /// Whether the daemon has launched this process.
    let isLaunched: Bool
    /// The events that were handled and not acknowledged.
    private(set) var unacknowledged: Set<Int64> = []
    /// The consumed files at whose old paths this process has tried to make another file.
    var triedPaths: Set<Int> = []
    /// The event of the last round. A task that is accepted later withdraws it.
    private(set) var finish: Int64?
    var isLaunchedForChallenge = false
    /// When the program next asks which challenges are open.
    var nextChallengeQuery: Int64 = 0
    var random: Random

    init(
        _ number: Int, _ history: History, _ journal: Journal, folder: String, library: sim_library, isLaunched: Bool
    ) {
        (self.number, self.history, self.journal, self.folder) = (number, history, journal, folder)
        (self.library, self.isLaunched) = (library, isLaunched)
        tasks = history.tasks.filter { $0.program == number }
        random = Random(seed: journal.choice.seed &+ journal.progress)
        library.`init`(&error, MemoryLayout<bh_error>.size)
        for one in journal.all where one.program == number {
            switch one.kind {
            case .taskIsAccepted:
                (accepted[one.task], isFinished) = (UInt64(one.first), false)
                if let finish { unacknowledged.remove(finish) }
            case .taskIsCancelled: cancelled.insert(one.task)
            case .groupIsCancelled: groups.cancelled.insert(Int(one.second))
            case .taskIsSuspended: suspended.insert(one.task)
            case .taskIsResumed: resumed.insert(one.task)
            case .bodyIsChanged: bodyChanges[one.task, default: 0] += 1
            case .taskSucceeds, .taskFails, .taskWasCancelled: ended.insert(one.task)
            case .sessionFinishes: (isFinished, finish) = (true, one.first)
            case .configurationIs: storedLimit = one.first
            default: break
            }
            if [.isAcknowledged, .acknowledges].contains(one.kind) { unacknowledged.remove(one.first) }
            guard one.isEvent else { continue }
            unacknowledged.insert(one.first)
            cursor = max(cursor, UInt64(one.first))
        }
    }

    var now: Int64 { world.servers.now }

    mutating func run() -> Never {
        record(.processStarts)
        open()
        inspectSession()
        listTasks()
        if history.receivesAgain { receiveAgain() }
        if history.repeatsEnqueues { repeatEnqueues() }
        if history.repeatsEnded { repeatEnded() }
        while now < History.lastEnd {
            changeDueBodies()
            enqueueDueTasks()
            takeDuePaths()
            cancelDueTasks()
            cancelDueGroups()
            suspendDueTasks()
            if isDone { break }
            respondToOpenChallenges()
            poll(after: history.hasCursor ? cursor : 0)
            if isDone { break }
            completeIfAllHasEnded()
            exitUntilLaunch()
            if random.chance(20) { listTasks() }
            if random.chance(20) { attachToOther() }
            if history.repeatsEnded, random.chance(20) { repeatEnded() }
            if history.usesHiddenDirectory, random.chance(20) { enqueueIntoHiddenDirectory() }
            switch world.programs.takeRequest(number) {
            case .exit(let duration)?: exit(for: world.programs.restart(after: duration))
            case .pause(let duration)?:
                record(.programPauses, first: duration)
                world.programs.pauses(number, until: now + duration)
                usleep(UInt32(duration))
            case nil: break
            }
        }
        if !isDone { sim_end_run(ProcessEnd.done) }
        waitForRemovals()
        completeIfAllHasEnded()
        close()
        record(.allIsDone)
        world.programs.exit(number, for: nil)
    }

    /// Whether a server has parts of an object of a task that has ended.
    var hasRemains: Bool {
        tasks.contains {
            $0.upload?.kind == .s3 && ended.contains($0.number) && world.servers.uploads.hasRemains(of: $0.number)
        }
    }

    /// Gives the engine time to remove what servers have of failed uploads. It asks a server again after five minutes.
    private func waitForRemovals() {
        let end = now + hour
        while hasRemains, now < end { usleep(UInt32(10 * second)) }
    }

    /// Exits, and starts again after the duration.
    mutating func exit(for duration: Int64) -> Never {
        close()
        record(.processExits)
        world.programs.exit(number, for: duration)
    }

    var isDone: Bool { (isFinished || tasks.isEmpty) && ended.count == tasks.count }

    mutating func open() {
        var options = bh_application_options()
        library.`init`(&options, MemoryLayout<bh_application_options>.size)
        options.hosting = bh_hosting(history.hasDaemon ? BH_HOSTING_DAEMON : BH_HOSTING_EMBEDDED)
        let store = folder + "/store"
        // The path of any program: `Programs` starts the daemon.
        let daemon = history.hasDaemon ? strdup("/bin/true") : nil
        defer { free(daemon) }
        options.daemon = UnsafePointer(daemon)
        let opened = applicationIdentifier.withCString { identifier in
            store.withCString { store in
                options.identifier = identifier
                options.store = store
                return withLaunchCommand { command in
                    options.launch = command
                    return library.application_open(&options, BH_WAIT_DEFAULT, &application, &error)
                }
            }
        }
        check(opened)
        world.programs.applicationIsOpen(number)
        waitBeforeSession()
        readLaunch()
        createSession()
        world.programs.sessionIsOpen(number)
    }

    private mutating func createSession() {
        var configuration = bh_session_configuration()
        library.`init`(&configuration, MemoryLayout<bh_session_configuration>.size)
        // A later version of the program has another limit. The session keeps its stored configuration.
        configuration.maximum_running_tasks = storedLimit == nil ? history.runningLimit : 7
        if history.asksForCredentials { configuration.asks_for_credentials = bh_choice(BH_YES) }
        var created = bh_status(BH_IN_USE)
        // Another program may be the consumer for a moment, after it has waited for the session (`attachToOther`).
        for _ in 0..<60 where created == BH_IN_USE {
            created = sessionIdentifier.withCString { identifier in
                configuration.identifier = identifier
                return library.session_create(
                    application, &configuration, bh_role(BH_ROLE_CONSUME), BH_WAIT_DEFAULT, &session, nil, &error)
            }
            if created == BH_IN_USE { usleep(UInt32(second)) }
        }
        check(created)
    }

    func close() {
        // If the disk fails, a task may exist although the program does not know it.
        let hasLeftEvents = !isFinished || !unacknowledged.isEmpty || history.hasDiskFaults
        world.programs.sessionIsClosed(number, hasLeftEvents: hasLeftEvents)
        library.session_close(session)
        library.application_close(application)
    }

    // MARK: Tasks

    private mutating func enqueueDueTasks() {
        for plan in tasks where plan.time <= now && accepted[plan.number] == nil {
            // A task that waits for another one is enqueued with it.
            if let chain = plan.chain, accepted[chain.predecessor] == nil { continue }
            if waitsForKey(plan) { continue }
            enqueue(plan)
        }
    }

    /// Enqueues a task, and by the same call the tasks that wait for it.
    private mutating func enqueue(_ plan: TaskPlan) {
        let plans = accepted[plan.number] == nil ? chain(from: plan) : [plan]
        guard let results = enqueue(plans) else { return }
        for (index, plan) in plans.enumerated() {
            let id = results.dropFirst(index).first?.task_id ?? 0
            // The task may exist already. If it were enqueued a second time, it would have another id.
            guard accepted[plan.number] != id else { continue }
            if accepted[plan.number] == nil { (accepted[plan.number], isFinished) = (id, false) }
            record(.taskIsAccepted, plan.number, first: Int64(id))
        }
    }

    /// Enqueues tasks by one call. Returns their results; nil: the call has failed.
    mutating func enqueue(_ plans: [TaskPlan]) -> [bh_enqueued]? {
        let prepared = plans.map { PreparedRequest($0, keyOwner: chooseKey(for: $0), path: path($0.number), library) }
        var results: OpaquePointer?
        let status = withExtendedLifetime(prepared) {
            library.session_enqueue(
                session, prepared.map(\.request), prepared.count, BH_WAIT_DEFAULT, &results, &error)
        }
        defer { library.batch_release(results) }
        if status == BH_OK { return library.items(results, BH_ITEM_ENQUEUED, bh_enqueued.self) }
        if status == BH_ENGINE_INCOMPATIBLE { check(status) }
        record(.enqueueFails, plans[0].number, first: Int64(status))
        return nil
    }

    private func chain(from plan: TaskPlan) -> [TaskPlan] {
        [plan] + history.followers(of: plan).filter { accepted[$0.number] == nil }.flatMap(chain)
    }

    /// Enqueues a download that must be refused. The refusal must not affect later calls.
    private mutating func enqueueIntoHiddenDirectory() {
        var request = bh_request()
        library.`init`(&request, MemoryLayout<bh_request>.size)
        var results: OpaquePointer?
        let texts = [strdup(Servers.origin(1) + "/0"), strdup(hiddenDirectory(below: folder) + "/0")]
        defer { for text in texts { free(text) } }
        (request.url, request.destination) = (UnsafePointer(texts[0]), UnsafePointer(texts[1]))
        let status = library.session_enqueue(session, &request, 1, BH_WAIT_DEFAULT, &results, &error)
        library.batch_release(results)
        if status == BH_OK { return record(.hiddenDirectoryIsAccepted) }
        if status != BH_DESTINATION_UNAVAILABLE { check(status) }
    }

    /// Enqueues the tasks again whose ends the program does not know. Each of them has an idempotency key.
    private mutating func repeatEnqueues() {
        for plan in tasks where accepted[plan.number] != nil && !ended.contains(plan.number) { enqueue(plan) }
    }

    /// Changes the files of uploads.
    private mutating func changeDueBodies() {
        for plan in tasks {
            let changed = bodyChanges[plan.number] ?? 0
            guard let upload = plan.upload, changed < upload.bodyChanges.count, upload.bodyChanges[changed] <= now
            else { continue }
            record(.bodyChangeBegins, plan.number)
            world.machine.programReads = true
            File.change(plan, to: changed + 1, at: path(plan.number))
            world.machine.programReads = false
            bodyChanges[plan.number] = changed + 1
            record(.bodyIsChanged, plan.number)
        }
    }

    // A call is recorded after it has succeeded. If the process ends between the two, the next process repeats the
    // call.
    private mutating func cancelDueTasks() {
        let due = tasks.filter { plan in
            let isDue = plan.cancelled.map { $0 <= now } == true || plan.rival.map(ended.contains) == true
            return isDue && accepted[plan.number] != nil && !cancelled.contains(plan.number)
        }
        guard !due.isEmpty else { return }
        select(due.compactMap { accepted[$0.number] }, library.tasks_cancel)
        for plan in due {
            cancelled.insert(plan.number)
            record(.taskIsCancelled, plan.number)
        }
    }

    private mutating func suspendDueTasks() {
        for plan in tasks {
            guard let times = plan.suspended, let id = accepted[plan.number] else { continue }
            if times.lowerBound <= now, suspended.insert(plan.number).inserted {
                select([id], library.tasks_suspend)
                record(.taskIsSuspended, plan.number)
            }
            if times.upperBound <= now, resumed.insert(plan.number).inserted {
                select([id], library.tasks_resume)
                record(.taskIsResumed, plan.number)
            }
        }
    }

    typealias TaskCall = (
        OpaquePointer?, UnsafePointer<bh_task_selection>?, Int32, UnsafeMutablePointer<UInt64>?,
        UnsafeMutablePointer<bh_error>?
    ) -> bh_status

    /// Performs a call for the tasks that have these ids, or for those of a group.
    mutating func select(_ ids: [UInt64] = [], group: Int? = nil, _ call: TaskCall) {
        var selection = bh_task_selection()
        library.`init`(&selection, MemoryLayout<bh_task_selection>.size)
        let name = group.flatMap { strdup(History.name(ofGroup: $0)) }
        defer { free(name) }
        selection.group = UnsafePointer(name)
        let status = ids.withUnsafeBufferPointer { ids in
            (selection.ids, selection.id_count) = (ids.baseAddress, ids.count)
            return call(session, &selection, BH_WAIT_DEFAULT, nil, &error)
        }
        check(status)
    }

    private var sessionIdentifier: String { Self.sessionIdentifier(number) }
    private static func sessionIdentifier(_ program: Int) -> String { "photos \(program)" }

    func path(_ number: Int) -> String { "\(folder)/files/\(number)" }

    // MARK: Events

    mutating func poll(after: UInt64) {
        var events: OpaquePointer?
        let wait = max(1, (nextAction - now) / millisecond + 1)
        let (start, known, limit) = (now, Set(accepted.keys), 10)
        let status = library.session_poll(session, after, limit, Int32(min(wait, 600_000)), &events, &error)
        defer { library.batch_release(events) }
        if status == BH_ENGINE_UNRESPONSIVE, isEngineStopped(since: start) { return }
        guard status == BH_OK else { return check(status) }
        let forgets = random.chance(history.forgetfulness) && now < History.lastFault
        for event in library.items(events, BH_ITEM_EVENT, bh_event.self) { handle(event, acknowledges: !forgets) }
        if library.batch_count(events) < limit { groups.settled = known }
    }

    private mutating func handle(_ event: bh_event, acknowledges: Bool) {
        if event.kind == BH_EVENT_CHALLENGE { return handleChallenge(event, acknowledges: acknowledges) }
        let number = event.kind == BH_EVENT_TASK_ENDED ? task(of: event) ?? -2 : -1
        unacknowledged.insert(Int64(event.id))
        cursor = max(cursor, event.id)
        switch Int(event.kind) {
        case BH_EVENT_SESSION_FINISHED:
            isFinished = true
            record(.sessionFinishes, first: Int64(event.id), second: Int64(event.round))
        case BH_EVENT_GROUP_FINISHED: receiveGroup(event)
        default: receiveEnd(of: number, event, isLast: acknowledges)
        }
        if history.repeatsEnded { recordRound(of: event, number) }
        guard acknowledges else { return }
        record(.acknowledges, number, first: Int64(event.id))
        acknowledge(event, number)
    }

    mutating func acknowledge(_ event: bh_event, _ task: Int = -1) {
        var id = event.id
        check(library.session_acknowledge(session, &id, 1, BH_WAIT_DEFAULT, nil, &error))
        unacknowledged.remove(Int64(id))
        record(.isAcknowledged, task, first: Int64(id))
    }

    private mutating func receiveEnd(of number: Int, _ event: bh_event, isLast: Bool) {
        // A task also exists if the call failed after its commit, for example because the engine has ended.
        if accepted[number] == nil {
            accepted[number] = event.task_id
            record(.taskIsAccepted, number, first: Int64(event.task_id))
        }
        let kind = Observation.Kind(endIn: event.task_state) ?? .taskFails
        record(kind, number, first: Int64(event.id), second: Int64(event.status))
        recordRefusal(event, number)
        checkGroup(of: event, number)
        ended.insert(number)
        cancelDueTasks()
        if let plan = history.plan(number) { receiveFile(of: plan, event, kind, isLast: isLast) }
    }

    /// When the program must act next.
    var nextAction: Int64 {
        let times = [world.machine.nextRequest(number), nextGroupCancel, nextPath]
        var next = times.compactMap(\.self).min() ?? History.lastEnd
        for plan in tasks where accepted[plan.number] != nil || !waitsForKey(plan) {
            if accepted[plan.number] == nil { next = min(next, max(plan.time, now + second)) }
            let times = [
                cancelled.contains(plan.number) ? nil : plan.cancelled,
                suspended.contains(plan.number) ? nil : plan.suspended?.lowerBound,
                resumed.contains(plan.number) ? nil : plan.suspended?.upperBound,
                plan.upload?.bodyChanges.dropFirst(bodyChanges[plan.number] ?? 0).first,
            ]
            for time in times.compactMap(\.self) { next = min(next, time > now ? time : now + second) }
        }
        return next
    }

    // MARK: Inspection

    var inspection: Inspection {
        Inspection(
            library: library, application: application, session: session, hasCredentials: history.hasCredentials)
    }

    private mutating func inspectSession() {
        let (status, limit) = inspection.runningLimit(&error)
        check(status)
        storedLimit = Int64(limit)
        record(.configurationIs, first: Int64(limit))
        let second = inspection.attach(sessionIdentifier, &error)
        if second == BH_OK { record(.hasSecondConsumer) } else if second != BH_IN_USE { check(second) }
    }

    /// Tries to become the consumer of another program's session. That program is alive, so it keeps the session, even
    /// if the engine ends meanwhile.
    private mutating func attachToOther() {
        let other = Int(random.int(1...Int64(history.programs)))
        guard other != number, let consumer = world.programs.consumer(other) else { return }
        // The sessions of another application cannot be attached.
        guard !history.hasLaunches else { return }
        let wait = random.chance(50) ? Int32(random.magnitude(60_000...3_600_000)) : nil
        let start = now
        let status = inspection.attach(Self.sessionIdentifier(other), waiting: wait, &error)
        if status == BH_OK {
            if world.programs.consumer(other) == consumer { record(.hasSecondConsumer) }
        } else {
            if status == bh_status(wait == nil ? BH_IN_USE : BH_TIMEOUT) { return }
            if wait != nil, status == BH_ENGINE_UNRESPONSIVE, isEngineStopped(since: start) { return }
            check(status)
        }
    }

    private mutating func listTasks() {
        let suspended = tasks.filter { $0.suspended.map { $0.lowerBound <= now } == true }
        let ids = Set(suspended.compactMap { accepted[$0.number] })
        var found: [(UInt64, Inspection.Contradiction)] = []
        let reasons = WaitReasons(history: history, journal: journal, now: now)
        check(inspection.listTasks(suspended: ids, reasons, &error) { found.append(($0, $1)) })
        for (id, contradiction) in found {
            record(.listingIsWrong, first: Int64(id), second: contradiction.rawValue)
        }
        if history.hasCredentials { findMissingChallenge() }
    }

    // MARK: Calls

    /// Whether the process that the last call has named as the engine was stopped at any moment since this time.
    func isEngineStopped(since time: Int64) -> Bool {
        let process = sim_process_of(Int32(clamping: error.detail))
        return error.domain == BH_DOMAIN_PROCESS && world.programs.wasStopped(process, since: time)
    }

    func check(_ status: bh_status) {
        guard status != BH_OK else { return }
        if status == BH_ENGINE_INCOMPATIBLE, let upgrade = history.upgrade, now >= upgrade {
            record(.engineIsIncompatible)
            world.programs.exit(number, for: second)
        }
        record(.callFails, first: Int64(status))
        // A program whose engine has ended can start again. Another failure is a violation, and the run is over.
        if world.machine.diskMayHaveFailed, status != BH_STORE_DAMAGED { world.programs.exit(number, for: 60 * second) }
        sim_end_run(ProcessEnd.done)
    }

    func record(_ kind: Observation.Kind, _ task: Int = -1, first: Int64 = 0, second: Int64 = 0) {
        journal.add(
            Observation(time: now, kind: kind, program: number, task: task, first: first, second: second))
    }
}
