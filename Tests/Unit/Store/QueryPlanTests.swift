import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulStore

/// Checks the query plan of every SQL statement. The source files of the tables declare the statements. To prepare each
/// statement, the test calls the methods that perform the statements. If fewer statements are prepared than declared,
/// the test fails. So each new statement needs a call in this test.
@Suite("Query plans")
struct QueryPlanTests {
    let scratch = Scratch()

    /// Tables that stay small even if the store has many tasks. A statement may scan these tables.
    private static let small: Set<String> = [
        "sessions", "lanes", "selected", "running", "acknowledged", "clients", "applied", "meta", "pending", "intents",
        "leftovers", "sqlite_sequence", "challenges", "stored_credentials", "launches", "launched_sessions", "limits",
        "constraints", "waits", "networks", "usage", "activities", "body_leftovers", "claims",
    ]

    private func exerciseEverything(_ store: TestStore) throws {
        let session = try store.session()
        let ids = try store.enqueue((0..<8).map { .numbered($0) { $0.idempotencyKey = "\($0.url)" } }, in: session)
        try store.enqueue([.numbered(0) { $0.idempotencyKey = "\($0.url)" }], in: session)
        try store.enqueue([.numbered(20) { $0.options.group = "album" }], in: session)
        #expect(throws: Failure.self) { try store.enqueue([.numbered(0)], in: session) }
        let command = CommandID(client: ClientID(high: 1, low: 7), sequence: 1)
        try store.run { transaction in
            let consumer = ConsumerIdentity.of(1)
            _ = try transaction.sessions.attach(
                application: "org.example", identifier: "gallery", role: .consume, consumer: consumer)
            try transaction.clients.releaseHandle(client: consumer.client, handle: consumer.handle, session: session)
            try transaction.sessions.update(session, try transaction.sessions.configuration(of: session))
            _ = try transaction.sessions.active()
            _ = try transaction.sessions.infos(application: "org.example")
            _ = try transaction.sessions.info(of: session)
            _ = try transaction.applications.all(running: [session: 1])
            _ = try transaction.sessions.needingAttention(application: "org.example")
            for lane in try transaction.lanes.ready() {
                _ = try transaction.lanes.find(lane.id)
                _ = try transaction.lanes.waitingTasks(of: lane.id, limit: 3)
            }
            let checkpoint = Checkpoint(
                validator: Validator(entityTag: "\"a\""), finalURL: "u", size: 1, syncedOffset: 1, bootID: "b")
            try transaction.attempts.recordCheckpoint(ids[0], checkpoint)
            try transaction.attempts.record(
                ids[0],
                AttemptRecord(
                    attempts: 1, attemptsWithoutProgress: 1, bytesReceived: 1, nextAttempt: 5, reason: .retry))
            _ = try transaction.delays.nextDue()
            try transaction.delays.rescheduleRetries(of: session, bootMilliseconds: 1, now: 1)
            _ = try transaction.delays.releaseUnreachable()
            _ = try transaction.delays.releaseStorage()
            try transaction.attempts.write(Attempt(task: ids[0], number: 200, next: .retry))
            _ = try transaction.attempts.all(of: ids[0], in: session)
            _ = try transaction.attempts.all(of: ids, in: session)
            _ = try transaction.history.tasks(of: session, after: .zero, maximum: 9)
            try transaction.history.trim(session, to: 1)
            try transaction.delays.begin([ids[1], ids[2]], until: 50, for: .budget)
            _ = try transaction.delays.began(for: .budget)
            _ = try transaction.delays.evaluate(for: .budget) { $0.task == ids[1] ? 60 : nil }
            _ = try transaction.delays.releaseDue(bootMilliseconds: 9)
            _ = try transaction.delays.overdueAside(bootMilliseconds: 9)
            let authChallenge = AuthenticationChallenge.example()
            let record = AttemptRecord(attempts: 1, attemptsWithoutProgress: 0, bytesReceived: 0)
            let parked = try transaction.challenges.park(
                ids[6], record, for: authChallenge, replacing: ChallengeID(rawValue: 7),
                bootMilliseconds: 1, now: 1
            ).parked
            let open = try transaction.challenges.find(parked?.challenge ?? ChallengeID(rawValue: 0))
            if let open {
                _ = try transaction.challenges.parkWithoutAttempt([ids[7]], for: open.id, bootMilliseconds: 1, now: 1)
                try transaction.challenges.rescheduleParked(bootMilliseconds: 1, now: 1)
                try transaction.challenges.rescheduleParked(of: session, bootMilliseconds: 1, now: 1)
                _ = try transaction.challenges.all(of: session)
                _ = try transaction.challenges.all()
                _ = try transaction.challenges.openChallenge(open.id, of: session)
                let refreshed = RefreshedRequest(
                    challenge: open.id, url: "https://b/", headers: [HeaderField("A", "b")])
                try transaction.credentials.refresh(open, with: refreshed, origin: .example, in: session)
                var ofTask = open
                ofTask.space.task = ids[7]
                try transaction.credentials.refresh(ofTask, with: refreshed, origin: .example, in: session)
                _ = try transaction.challenges.releaseTasks(of: open, in: session, now: 2)
                _ = try transaction.challenges.open(
                    authChallenge, for: [ids[7]], replacing: open.id, bootMilliseconds: 1, now: 1)
                try transaction.credentials.keep(
                    StoredCredential(
                        space: open.space, challenge: open.id, schemes: .basic,
                        response: .credential(user: "u", password: "p")), of: session)
                try transaction.credentials.clearExpired(now: 1)
                _ = try transaction.credentials.kept()
                try transaction.credentials.forget(open.space, of: session)
                _ = try transaction.endings.failTasks(of: open, in: session, now: 1)
            }
            _ = try transaction.attempts.recordIntent(ids[0], FinishIntent(device: 1, inode: 2, size: 3))
            _ = try transaction.tasks.withIntent()
            try transaction.attempts.forgetProgress(ids[0])
            _ = try transaction.tasks.find(ids[0])
            var outcome = Outcome(state: .succeeded)
            outcome.response.finalURL = "u"
            _ = try transaction.endings.record(ids[0], outcome, now: 1)
            _ = try transaction.destinations.claimIntent(of: ids[0])
            try transaction.destinations.recordClaim(ids[0], path: "/home/someone/files/0")
            for control in [TaskControl.suspend, .resume, .setPriority(3), .setRate(9), .setAside] {
                for selection in [TaskSelection(), TaskSelection(ids: ids), TaskSelection(group: "album")] {
                    _ = try transaction.control.apply(control, to: selection, of: session, running: [ids[1]], now: 1)
                }
            }
            _ = try transaction.control.apply(
                .cancel, to: TaskSelection(states: TaskStates(.waiting)), of: session, running: [ids[1]], now: 1)
            _ = try transaction.listing.tasks(
                of: session, TaskSelection(), after: .zero, maximum: 9, running: [], bootMilliseconds: 0, now: 0)
            _ = try transaction.listing.tasks(
                of: session, TaskSelection(group: "album"), after: .zero, maximum: 9, running: [], bootMilliseconds: 0,
                now: 0)
            try transaction.settings.setLimits(try transaction.settings.limits())
            _ = try transaction.events.poll(session, after: .zero, maximum: 9)
            _ = try transaction.events.count(of: session, through: EventID(rawValue: 1))
            _ = try transaction.events.acknowledge(session, .ids([EventID(rawValue: 1)]))
            _ = try transaction.events.acknowledge(session, .through(EventID(rawValue: 2)))
            try transaction.leftovers.forget(try transaction.leftovers.page(now: 9, limit: 9).files)
            try transaction.bodies.forgetReturned(
                try transaction.bodies.bodiesToReturn(after: "", limit: 9).map(\.name))
            _ = try transaction.meta.storeTag()
            try transaction.commands.remember(command, reply: [1])
            _ = try transaction.commands.reply(to: command)
            try transaction.commands.forget(command.client, through: 1)
            try transaction.clients.releaseDead()
            try transaction.clients.releaseClaims(of: [command.client], connected: [])
            _ = try transaction.sessions.invalidate(session, cancelTasks: true, now: 1)
        }
        try exerciseRest(store, try store.session("rest"))
        try exerciseLaunches(store, try store.session("waiting"))
        try exerciseConditions(store, try store.session("deferred"))
        try exerciseActivities(store, try store.session("repeating"))
    }

    /// Performs operations that need a session without other tasks.
    private func exerciseRest(_ store: TestStore, _ session: SessionID) throws {
        let other = ProcessIdentity(processID: 1, startTime: 2, bootID: "b")
        let file = BodyFile(path: "/home/someone/body", device: 1, inode: 2, size: 3, modifiedNanoseconds: 4)
        let names = ["a", "b"]
        let ids = try store.enqueue([.numbered(41), .numbered(42)], in: session)
        try store.run { transaction in
            _ = try transaction.sessions.create(
                application: "org.example", configuration: SessionConfiguration(identifier: "rest"), role: .produce,
                consumer: .of(1), now: 1)
            _ = try transaction.clients.releaseHandle(client: ClientID(high: 1, low: 7), handle: HandleID(rawValue: 9))
            try transaction.clients.releaseClosed([ClientID(high: 3, low: 3)], of: other)
            _ = try transaction.clients.withClaims()
            _ = try transaction.lanes.anyStarts()
            _ = try transaction.metrics.read()
            _ = try transaction.tasks.positionsWithKnownKey(session, [.numbered(1) { $0.idempotencyKey = "key" }])
            try transaction.cookies.change(of: session, adding: ["a"], removing: ["b"])
            _ = try transaction.cookies.all(of: session)
            try transaction.settings.setNetwork(NetworkSettings(name: "away"))
            try transaction.bodies.recordConsumed([file])
            try transaction.bodies.forgetConsumed(try transaction.bodies.consumed(limit: 9))
            _ = try transaction.bodies.consumed(at: ["/a"])
            try transaction.delays.releaseSealed()
            try transaction.bodies.addLeftovers(among: names)
            _ = try transaction.bodies.unknown(among: names)
            try transaction.bodies.forgetLeftovers(try transaction.bodies.leftovers(limit: 9))
            _ = try transaction.bodies.storedFile(of: ids[0])
            try transaction.attempts.recordUnderWay(ids[0], attempts: 1)
            try transaction.attempts.renewPart(of: ids[0])
            _ = try transaction.uploads.record(UploadResource(.tus, url: "u"), of: ids[0], now: 1)
            _ = try transaction.tables.uploads.resource(of: ids[0])
            try transaction.uploads.abandon(ids[0], now: 1)
            for (upload, _) in try transaction.uploads.abandoned(after: "", limit: 9) {
                try transaction.uploads.forget(upload)
            }
            _ = try transaction.uploads.record(nil, of: ids[0], now: 1)
            try transaction.leftovers.addUnremovedPart(of: ids[0])
            try transaction.leftovers.retainPart(of: ids[0], until: 1)
            let tables = transaction.leftovers.tables
            _ = try tables.leftovers.retained("k", "/a", in: session, now: 1)
            try tables.parts.moveRetainedCheckpoint(of: ids[0], to: ids[1])
            try tables.tasks.setPart(1, of: ids[1])
            try tables.parts.removeRetainedCheckpoint(of: ids[0])
            let lane = try transaction.lanes.ready()[0].id
            _ = try transaction.lanes.firstWaitingTask(of: lane, stating: .session)
            _ = try transaction.destinations.reserveName("a.zip", from: 0, in: "/downloads/", for: ids[1])
            _ = try transaction.destinations.representation(at: "/a", of: "https://a/", in: session)
            try transaction.destinations.recordRepresentation(
                of: ids[0], at: "/a", of: "https://a/", in: session, inode: 1, size: 2, modifiedNanoseconds: 3)
            let states = TaskStates([TaskStates(.waiting), TaskStates(.suspended)])
            for control in [TaskControl.setPriority(Limits.priorityNow), .setConstraints(.init())] {
                _ = try transaction.control.apply(
                    control, to: TaskSelection(states: states), of: session, running: [], now: 1,
                    held: [lane: [.session]])
            }
        }
        try exerciseTables(store, session, ids[1])
    }

    /// Performs the statements that operations use only in rare cases.
    private func exerciseTables(_ store: TestStore, _ session: SessionID, _ task: TaskID) throws {
        try store.run { transaction in
            let tables = transaction.tables
            try tables.clients.remove(ConsumerIdentity.of(1).client)
            try tables.commands.removeAll(of: ConsumerIdentity.of(1).client)
            guard let lane = try tables.tasks.lane(of: task) else { return }
            try tables.tasks.moveTimes(by: 0)
            try tables.tasks.move(task, to: lane)
            try tables.tasks.setPath("/a", of: task)
            _ = try tables.tasks.write(
                AttemptProgress(attempts: 1, bytesReceived: 1, furthestOffset: 1, madeProgress: true), of: task)
            try tables.selection.fillAcknowledged()
            try tables.requests.removeOfAcknowledged()
            try tables.options.removeOfAcknowledged()
            try tables.parts.removeOfAcknowledged()
            try tables.bodies.removeOfAcknowledged()
            _ = try tables.leftovers.insertCopiesOfAcknowledged()
            try tables.claims.removeOfAcknowledged()
            try tables.refreshes.removeOfAcknowledged()
            try tables.uploads.removeOfAcknowledged()
            try exerciseDependencies(tables, session, task)
            try tables.tasks.removeAcknowledged()
            try tables.delays.clearAfterBoot()
            try tables.options.setDelayed(task, since: 1)
            try tables.options.moveDelays(by: 0)
            try tables.parts.clearDevices()
            try tables.claims.clearDevices()
            try tables.claims.write(FinishIntent(device: 1, inode: 2, size: 3), of: task, to: "/a")
            try tables.leftovers.insertCopy(ofClaimOf: task)
            try tables.claims.remove(of: task)
            try exerciseBodies(tables, task)
            try tables.leftovers.insertKept(task)
            try tables.lanes.removeIfEmpty(lane)
            try tables.groups.removeIfEmpty(GroupID(9_999))
            try tables.constraints.removeUnused(of: session)
            try tables.waits.moveTimes(by: 0)
            _ = try tables.challenges.isUnused(ChallengeID(rawValue: 9_999))
            try exerciseSessionTables(tables, session)
            try exerciseAcknowledged(tables, session, task)
        }
    }

    private func exerciseBodies(_ tables: Tables, _ task: TaskID) throws(Failure) {
        var file = BodyFile(path: "/a", device: 1, inode: 2, size: 3, modifiedNanoseconds: 4)
        file.storedName = "a"
        try tables.bodies.insert(BodyPart(name: "a", file: file), of: task, at: 0)
        _ = try tables.bodies.parts(of: task)
        try tables.bodies.addSnapshotsOfSelected()
        _ = try tables.bodies.addReturnsOfSelectedEvents()
        try tables.bodies.forgetReturned(["a"])
        _ = try tables.bodies.addLeftovers(of: task, hasSucceeded: false)
        _ = try tables.bodies.addLeftovers(of: task, hasSucceeded: true)
        try tables.bodies.forgetStored("a", of: task)
    }

    private func exerciseDependencies(_ tables: Tables, _ session: SessionID, _ task: TaskID) throws(Failure) {
        let (dependencies, moment) = (tables.dependencies, DelayMoment(boot: 1, calendar: 1))
        try dependencies.insert(Dependency(.key("a")), on: task, of: task, at: 0, isOver: false)
        _ = try dependencies.all(of: task)
        _ = try dependencies.lastingOnSelected()
        _ = try dependencies.predecessors(of: task)
        for row in try dependencies.lasting(on: task) { try dependencies.end(row) }
        try dependencies.endAll(of: task)
        try dependencies.endAllOfSelected()
        try dependencies.write(TakenValues(), of: task)
        _ = try dependencies.values(of: task)
        _ = try dependencies.isDocument("{}")
        try dependencies.removeOfAcknowledged()
        _ = try tables.tasks.predecessor(task, in: session)
        _ = try tables.requests.url(of: task)
        _ = try tables.requests.wholeResponse(of: task)
        _ = try tables.options.earliestStart(of: task)
        try tables.options.setBodySize(1, of: task)
        try tables.delays.delayUntilDependencies(of: task, moment)
        try tables.delays.delaySelectedDependents(moment)
        _ = try tables.delays.releaseDependent(task)
    }

    private func exerciseSessionTables(_ tables: Tables, _ session: SessionID) throws(Failure) {
        let process = ProcessIdentity(processID: 1, startTime: 2, bootID: "b")
        let version = KnownRepresentation(entityTag: "\"a\"", lastModified: nil, finalURL: "https://a/", size: 2)
        try tables.sessions.setHistoryCount(0, of: session)
        try tables.sessions.remove(SessionID(rawValue: 9_999))
        try tables.validators.write(
            StoredRepresentation(representation: version, inode: 1, modifiedNanoseconds: 3), at: "/a", of: "https://a/",
            in: session)
        try tables.activities.remove(ActivityID(rawValue: 9_999))
        try tables.activities.clearDevices()
        try tables.launches.forgetFailures(of: "org.example")
        try tables.launches.clearAfterBoot()
        _ = try tables.launches.attach(
            process, to: session, by: LaunchToken(id: LaunchID(rawValue: 9_999), secret: 7))
        try tables.meta.beginBoot("another")
    }

    private func exerciseAcknowledged(_ tables: Tables, _ session: SessionID, _ task: TaskID) throws(Failure) {
        _ = try tables.events.unclaimedTasksOfSelected()
        _ = try tables.events.placesOfSelected()
        _ = try tables.events.endCountOfSelected()
        try tables.events.removeSelected()
        try tables.attempts.removeOfSelected(exceptNewest: 1)
        _ = try tables.history.insertSelected(exceptOldest: 1)
        _ = try tables.history.url(of: task, in: session)
        try tables.delivered.insertSelected()
        try tables.delivered.removeFinishedRounds(of: session)
        try tables.sessions.subtract(events: 0, history: 0, in: session)
    }

    private func exerciseConditions(_ store: TestStore, _ session: SessionID) throws {
        let request = Request.stating(30, .overnight).changed {
            $0.options.latestStartMilliseconds = 50
            $0.options.earliestStartMilliseconds = 40
            $0.options.policy.resourceTimeoutMilliseconds = 99
        }
        let clock = ClockReading(wall: 9, boot: 9, bootID: "b")
        try store.run { transaction in
            let enqueued = try transaction.tasks.enqueue([(request, .example)], in: session, now: 9, clock: clock)
            let task = enqueued.results[0]
            _ = try transaction.constraints.stored([ConstraintsID(rawValue: 1)])
            try transaction.tables.delays.rescheduleStarts(clock, all: true)
            try transaction.tables.delays.rescheduleStarts(clock, all: false)
            let later = TaskControl.reschedule(Rescheduling(earliest: .to(45), latest: .to(50)))
            for control in [TaskControl.suspend, .resume, later, .reschedule(Rescheduling(earliest: .to(nil)))] {
                _ = try transaction.control.apply(control, to: TaskSelection(), of: session, running: [], now: 10)
            }
            _ = try transaction.starts.startable(
                try transaction.tasks.find(task.task).map { [$0.task] } ?? [],
                StartClock(wall: 9, boot: 9, calendar: 9))
            _ = try transaction.delays.adopt(ClockReading(wall: 99_009, boot: 10, bootID: "b"))
            _ = try transaction.starts.applyLatestStarts(now: 50)
            _ = try transaction.lanes.waitingCounts()
            _ = try transaction.delays.unreachableLanes(among: [LaneID(rawValue: 1)])
            for lane in try transaction.lanes.ready() { _ = try transaction.lanes.waitingConstraints(of: lane.id) }
            _ = try transaction.tasks.overdue(of: session, limit: 9, now: 9)
            _ = try transaction.tasks.nextTimeoutEnd(of: session)
            for _ in 0..<16 {
                try transaction.waits.end(try transaction.waits.begin(WaitScope(session), .power, "", now: 1), now: 2)
            }
            _ = try transaction.waits.open()
            _ = try transaction.waits.all(of: task.task, in: session, now: 60)
            _ = try transaction.waits.all(of: TaskID(rawValue: 9_999), in: session, now: 60)
            var home = NetworkSettings(name: "home")
            home.isMetered = true
            try transaction.settings.setNetwork(home)
            _ = try transaction.settings.networks()
            try transaction.settings.saveUsage(
                [ByteUsage.Entry(network: "home", session: session, day: 1, bytes: 1)], removing: [("away", 2)])
            _ = try transaction.settings.usage()
        }
    }

    private func exerciseActivities(_ store: TestStore, _ session: SessionID) throws {
        var activity = Activity(identifier: "sync", intervalMilliseconds: 1_000)
        activity.request = .stating(31, .overnight)
        let made = activity
        let event = Activity(identifier: "event", intervalMilliseconds: 1_000)
        try store.run { transaction in
            try transaction.activities.set(made, origin: .example, in: session, now: 1)
            try transaction.activities.set(event, origin: nil, in: session, now: 1)
            _ = try transaction.activities.infos(of: session, now: 1)
            _ = try transaction.activities.hasAny()
            try transaction.tables.activities.moveWindows(by: -1)
            try transaction.tables.activities.boundWindows(now: .max / 2)
            for now: Int64 in [5_000, 9_000] {
                for due in try transaction.activities.open(now: now).open {
                    _ = try transaction.activities.start(
                        due, now: now, clock: ClockReading(wall: now, boot: 1, bootID: "b"))
                }
            }
            try transaction.activities.remove("sync", in: session)
        }
    }

    private func exerciseLaunches(_ store: TestStore, _ session: SessionID) throws {
        try store.end(try store.enqueue([.numbered(9)], in: session)[0])
        try store.run { transaction in
            try transaction.launches.set(LaunchCommand(program: "/usr/bin/photos"), of: "org.example")
            let launch = try transaction.launches.begin(
                of: "org.example", secret: 7, backoff: LaunchBackoff(launches: 1), now: 1)
            _ = try transaction.launches.all()
            _ = try transaction.launches.waitingSessions(of: "org.example")
            _ = try transaction.launches.hasSessions(of: "org.example")
            _ = try transaction.launches.sessions(of: "org.example")
            if let launch { try transaction.launches.save(launch) }
            _ = try transaction.launches.complete(session, in: "org.example")
            try transaction.launches.set(nil, of: "org.example")
        }
    }

    /// The number of statements that the source files of the tables declare.
    private var declaredStatements: Int {
        let sources = "\(#filePath)".replacing("Tests/Unit/Store/QueryPlanTests.swift", with: "Sources/BackhaulStore")
        var count = 0
        for folder in ["Tables", "Tables/Tasks"] {
            for name in (try? DirectoryReader.textNames(in: "\(sources)/\(folder)")) ?? [] {
                guard name.hasSuffix(".swift"), let text = text(of: "\(sources)/\(folder)/\(name)") else { continue }
                count += text.matches(of: /static let \w+ = Query\(/).count
            }
        }
        return count
    }

    private func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("no statement scans or sorts tasks or events, except after the user has set the clock")
    func plans() throws {
        let store = try TestStore(scratch.path)
        try exerciseEverything(store)
        let (statements, plans) = try store.run { transaction in
            let texts = transaction.connection.preparedTexts.sorted()
            var plans: [String] = []
            for text in texts where !["BEGIN", "COMMIT", "SAVEPOINT", "RELEASE"].contains(where: text.hasPrefix) {
                for step in try transaction.connection.plan(of: text) { plans.append("\(step)  <-  \(text)") }
            }
            return (texts.count, plans)
        }
        // The connection also prepares statements that no table declares: BEGIN, COMMIT and the statement that writes
        // the first page.
        #expect(statements >= declaredStatements)
        for plan in plans {
            // When the user sets the clock, the times of all live tasks and all rescheduled tasks change. So the
            // statements for this change may scan these tasks.
            if plan.contains("SET enqueued_ms = enqueued_ms +") || plan.contains("request_options_rescheduled") {
                continue
            }
            let words = plan.split(separator: " ")
            if words[0] == "SCAN" {
                // The steps of a subquery are in the list of plans, too.
                let isComputed = words[1] == "CONSTANT" || words[1].hasPrefix("(subquery")
                #expect(isComputed || Self.small.contains(String(words[1])), "\(plan)")
            }
            // If a search compares the first column of an index by < or >, it reads many rows. Only searches for due
            // tasks may do this.
            let isMeant = plan.contains(/tasks_by_(due|latest_start)/)
            let isWalk = plan.contains(/^SEARCH (tasks|events) .*\(\w+[<>]/) && !isMeant
            #expect(!isWalk, "\(plan)")
            #expect(!plan.hasPrefix("USE TEMP B-TREE FOR ORDER BY"), "\(plan)")
        }
    }

    @Test("an acknowledgement finds the keys of finished rounds by an index")
    func keysOfFinishedRounds() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let plan = try store.run { transaction in
            try transaction.tables.delivered.removeFinishedRounds(of: session)
            let text = transaction.connection.preparedTexts.first { $0.hasPrefix("DELETE FROM delivered") }
            return try transaction.connection.plan(of: try #require(text))
        }
        #expect(plan.contains { $0.hasPrefix("SEARCH delivered") && $0.hasSuffix("(session_id=? AND round<?)") })
    }

    @Test("the next end of a retained part is found by an index")
    func nextRemoval() throws {
        let store = try TestStore(scratch.path)
        let plan = try store.run { transaction in
            _ = try transaction.tables.leftovers.nextRemoval(now: 0)
            let text = transaction.connection.preparedTexts.first { $0.hasPrefix("SELECT min(retained_until_ms)") }
            return try transaction.connection.plan(of: try #require(text))
        }
        #expect(plan.contains { $0.hasPrefix("SEARCH leftovers") })
    }

    @Test("a removed row finds the rows of other tables that refer to it by an index")
    func foreignKeys() throws {
        let store = try TestStore(scratch.path)
        let plans = try store.run { transaction in
            let keys = Query(
                """
                SELECT tables.name, keys."from"
                FROM sqlite_schema AS tables CROSS JOIN pragma_foreign_key_list(tables.name) AS keys
                WHERE tables.type = 'table' AND keys.on_delete IN ('CASCADE', 'SET NULL')
                """)
            let statements = try transaction.connection.all(keys) { row throws(Failure) in
                "DELETE FROM \"\(row.text())\" WHERE \"\(row.text())\" = ?"
            }
            return try statements.flatMap { try transaction.connection.plan(of: $0) }
        }
        #expect(plans.count >= 16)
        #expect(plans.filter { $0.hasPrefix("SCAN") } == [])
    }
}

extension Connection {
    /// The steps in which SQLite performs a statement.
    func plan(of text: String) throws(Failure) -> [String] {
        try all(Query("EXPLAIN QUERY PLAN \(text)")) { row throws(Failure) in
            _ = (row.integer(), row.integer(), row.integer())
            return row.text()
        }
    }
}
