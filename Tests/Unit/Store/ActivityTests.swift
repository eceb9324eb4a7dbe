import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Activities in the store")
struct ActivityTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }
    private static let hour: Int64 = 3_600_000

    private func activity(
        _ identifier: String = "sync", request: Request? = nil, _ change: (inout Activity) -> Void = { _ in }
    ) -> Activity {
        var activity = Activity(identifier: identifier, intervalMilliseconds: UInt64(Self.hour))
        activity.request = request
        change(&activity)
        return activity
    }

    private func set(_ store: TestStore, _ activity: Activity, _ session: SessionID, at now: Int64 = 1_000) throws {
        try store.run { try $0.activities.set(activity, origin: .example, in: session, now: now) }
    }

    private func open(_ store: TestStore, _ now: Int64) throws -> (open: [OpenActivity], next: Int64?) {
        try store.run { try $0.activities.open(now: now) }
    }

    private func start(_ store: TestStore, _ activity: OpenActivity, at now: Int64) throws -> ActivityStart? {
        try store.run {
            try $0.activities.start(activity, now: now, clock: ClockReading(wall: now, boot: now, bootID: "b"))
        }
    }

    private func infos(_ store: TestStore, _ session: SessionID, now: Int64 = 1_000) throws -> [ActivityInfo] {
        try store.run { try $0.activities.infos(of: session, now: now) }
    }

    private var request: Request {
        var request = Request(url: "https://example.org/feed")
        request.headers = [HeaderField("Accept", "text/xml")]
        request.userData = [1, 2]
        request.priority = 5
        request.mode = 0o600
        request.ifExists = .replace
        request.destination = Destination(path: "/home/someone/feed", directoryDevice: 5, directoryInode: 6)
        request.options.group = "feeds"
        request.options.method = "POST"
        request.options.body = .bytes([9, 8, 7])
        request.options.policy.maximumAttempts = 3
        request.options.policy.constraints.minimumBatteryPercent = 20
        return request
    }

    @Test("the window of an activity opens one interval after the activity was set")
    func window() throws {
        try set(store, activity(), session)
        #expect(try open(store, 1_000).next == 1_000 + Self.hour)
        #expect(try open(store, 999 + Self.hour).open.isEmpty)
        let found = try open(store, 1_000 + Self.hour)
        #expect(found.open.map(\.identifier) == ["sync"])
        #expect(found.next == nil)
        let window = found.open[0].window(now: 1_000 + Self.hour)
        #expect(window == ActivityWindow(begin: 1_000 + Self.hour, toleranceMilliseconds: UInt64(Self.hour / 2)))
    }

    @Test("when an activity starts, it enqueues its stored request, whose latest start is the end of the window")
    func task() throws {
        try set(store, activity(request: request), session)
        let due = try open(store, 2_000 + Self.hour).open[0]
        let started = try #require(try start(store, due, at: 2_000 + Self.hour))
        let enqueued = try #require(started.enqueued)
        let task = enqueued.results[0].task
        let record = try #require(try store.run { try $0.tasks.find(task) })
        var expected = request
        expected.options.policy.constraints.preset = .discretionary
        expected.options.latestStartMilliseconds = 1_000 + Self.hour * 3 / 2
        #expect(record.task.request == expected)
        #expect(record.task.origin == .example)
        #expect(enqueued.nextLatestStart == 1_000 + Self.hour * 3 / 2)
        let info = try infos(store, session, now: 3_000 + Self.hour)[0]
        #expect(info.lastTask == task && info.lastStartedMilliseconds == 2_000 + Self.hour)
        #expect(info.nextMilliseconds == 1_000 + 2 * Self.hour)
        #expect(info.url == request.url)
    }

    @Test(
        "if an activity has the quality of service `utility` or `userInitiated`, its task has no constraints",
        arguments: [QualityOfService.utility, .userInitiated])
    func quality(_ quality: QualityOfService) throws {
        let plain = Request(url: "https://example.org/a")
        try set(store, activity(request: plain) { $0.qualityOfService = quality }, session)
        let started = try #require(try start(store, try open(store, 2 * Self.hour).open[0], at: 2 * Self.hour))
        let task = try #require(started.enqueued).results[0].task
        let record = try #require(try store.run { try $0.tasks.find(task) })
        #expect(record.task.request.options.policy.constraints == .none)
    }

    @Test("an activity without a request makes an event; until the host acknowledges it, the session needs the host")
    func event() throws {
        try set(store, activity(), session)
        let started = try #require(try start(store, try open(store, 2 * Self.hour).open[0], at: 2 * Self.hour))
        #expect(started.change.needsHost)
        #expect(started.change.events.map(\.kind) == [.activity("sync")])
        #expect(try store.events(of: session) == started.change.events)
        #expect(try store.info(session)?.hasActivity == true)
        func waiting() throws -> [String] {
            try store.run { try $0.launches.waitingSessions(of: "org.example").map(\.identifier) }
        }
        #expect(try waiting() == ["gallery"])
        try store.acknowledge(session, .through(started.change.newestEvent))
        #expect(try waiting().isEmpty)
        #expect(try store.info(session)?.events == 0)
        #expect(try store.info(session)?.hasActivity == false)
    }

    @Test("while the event of an activity is unacknowledged, its later windows make no event")
    func acknowledged() throws {
        try set(store, activity(), session, at: 0)
        try set(store, activity("other"), session, at: 0)
        for hours in 1...3 {
            for due in try open(store, Int64(hours) * Self.hour).open {
                _ = try start(store, due, at: Int64(hours) * Self.hour)
            }
        }
        let events = try store.events(of: session)
        #expect(events.map(\.kind) == [.activity("sync"), .activity("other")])
        #expect(try infos(store, session).map(\.lastStartedMilliseconds) == [Self.hour, Self.hour])
        #expect(try infos(store, session).map(\.nextMilliseconds) == [4 * Self.hour, 4 * Self.hour])
        try store.acknowledge(session, .ids([events[0].id]))
        for due in try open(store, 4 * Self.hour).open { _ = try start(store, due, at: 4 * Self.hour) }
        #expect(try store.events(of: session).map(\.kind) == [.activity("other"), .activity("sync")])
    }

    @Test("an activity that does not repeat makes an event even if an earlier event is unacknowledged")
    func single() throws {
        for hours in 1...2 {
            try set(store, activity { $0.repeats = false }, session, at: Int64(hours) * Self.hour)
            let now = Int64(hours + 1) * Self.hour
            _ = try start(store, try open(store, now).open[0], at: now)
        }
        #expect(try store.events(of: session).count == 2)
    }

    @Test("if a due activity is started twice with the same record, the second start does nothing")
    func once() throws {
        try set(store, activity(), session)
        let due = try open(store, 2 * Self.hour).open[0]
        #expect(try start(store, due, at: 2 * Self.hour) != nil)
        #expect(try start(store, due, at: 2 * Self.hour) == nil)
        #expect(try store.events(of: session).count == 1)
    }

    @Test("an activity starts no new task before its last task has ended")
    func living() throws {
        try set(store, activity(request: request), session)
        let started = try start(store, try open(store, 2 * Self.hour).open[0], at: 2 * Self.hour)
        let task = try #require(started?.enqueued).results[0].task
        let next = try open(store, 4 * Self.hour).open[0]
        #expect(next.livingTask == task)
        #expect(try start(store, next, at: 4 * Self.hour) == nil)
        try store.end(task)
        let free = try open(store, 4 * Self.hour).open[0]
        #expect(free.livingTask == nil)
        #expect(try start(store, free, at: 4 * Self.hour) != nil)
    }

    @Test("an activity starts only one time for all missed windows, and its later windows keep their times")
    func missed() throws {
        try set(store, activity(), session, at: 0)
        let now = 10 * Self.hour + 5
        let due = try open(store, now).open[0]
        #expect(due.window(now: now).begin == 10 * Self.hour)
        #expect(try start(store, due, at: now) != nil)
        #expect(try open(store, now).open.isEmpty)
        #expect(try open(store, now).next == 11 * Self.hour)
    }

    @Test("an activity that does not repeat is removed when it starts")
    func gone() throws {
        try set(store, activity { $0.repeats = false }, session)
        #expect(try start(store, try open(store, 2 * Self.hour).open[0], at: 2 * Self.hour) != nil)
        #expect(try infos(store, session).isEmpty)
    }

    @Test("if an activity is set again, its next window changes only with a new interval or a new first window")
    func again() throws {
        func next() throws -> Int64 { try infos(store, session)[0].nextMilliseconds }
        try set(store, activity { $0.firstMilliseconds = 9_000 }, session)
        #expect(try next() == 9_000)
        try set(store, activity { $0.firstMilliseconds = 9_000 }, session, at: 5_000)
        try set(store, activity { $0.qualityOfService = .utility }, session, at: 5_000)
        #expect(try next() == 9_000)
        #expect(try infos(store, session)[0].qualityOfService == .utility)
        try set(store, activity { $0.firstMilliseconds = 8_000 }, session, at: 5_000)
        #expect(try next() == 8_000)
        try set(
            store,
            activity {
                $0.intervalMilliseconds = 60_000; $0.toleranceMilliseconds = 1
            }, session, at: 5_000)
        #expect(try next() == 65_000)
    }

    @Test("the request of an activity can be replaced and removed")
    func replaced() throws {
        try set(store, activity(request: request), session)
        try set(store, activity(request: Request(url: "https://example.org/other")), session)
        let due = try open(store, 2 * Self.hour).open[0]
        let task = try #require(try start(store, due, at: 2 * Self.hour)?.enqueued).results[0].task
        let record = try #require(try store.run { try $0.tasks.find(task) })
        #expect(record.task.request.url == "https://example.org/other")
        #expect(record.task.request.options.method == nil && record.task.request.destination == nil)
        try set(store, activity(), session)
        #expect(try infos(store, session)[0].url == nil)
        #expect(try infos(store, session)[0].lastTask == task)
    }

    @Test("a second removal of an activity fails, and a session that is invalidated loses its activities")
    func removed() throws {
        for name in ["a", "b"] { try set(store, activity(name, request: request), session) }
        func remove(_ name: String) throws {
            try store.run { try $0.activities.remove(name, in: session) }
        }
        try remove("a")
        #expect(throws: Failure.self) { try remove("a") }
        #expect(try infos(store, session).map(\.identifier) == ["b"])
        try store.enqueue([.numbered(1)], in: session)
        try store.run { _ = try $0.sessions.invalidate(session, cancelTasks: false, now: 1) }
        #expect(try open(store, .max).open.isEmpty)
        let failure = #expect(throws: Failure.self) { try set(store, activity(), session) }
        #expect(failure?.status == .invalidated)
    }

    @Test("the number of activities of a session is limited")
    func limit() throws {
        let activities = (0..<Limits.activityCount).map { activity("\($0)") }
        try store.run { transaction in
            for activity in activities {
                try transaction.activities.set(activity, origin: nil, in: session, now: 1)
            }
        }
        let failure = #expect(throws: Failure.self) { try set(store, activity("more"), session) }
        #expect(failure?.status == .tooMany)
        try set(store, activity("7"), session)
    }

    @Test("if the clock is set, the windows of activities move, except a first window with a stated time")
    func jump() throws {
        let begin = ClockStep.neverSet + 1_000
        func adopt(_ wall: Int64, boot: Int64) throws {
            try store.run { _ = try $0.delays.adopt(ClockReading(wall: wall, boot: boot, bootID: "b")) }
        }
        func next() throws -> [Int64] { try infos(store, session, now: 0).map { $0.nextMilliseconds - begin } }
        try adopt(begin, boot: 1_000)
        try set(store, activity("interval"), session, at: begin)
        try set(store, activity("wall") { $0.firstMilliseconds = begin + 5 * Self.hour }, session, at: begin)
        try adopt(begin + Self.hour / 2, boot: 1_000)
        #expect(try next() == [Self.hour * 3 / 2, 5 * Self.hour])
        // The activity "wall" starts while the clock is far ahead.
        let late = begin + 500 * Self.hour
        try adopt(late, boot: 1_000)
        let due = try #require(try open(store, late).open.first { $0.identifier == "wall" })
        #expect(try start(store, due, at: late) != nil)
        try adopt(begin, boot: 1_000)
        #expect(try next() == [Self.hour, Self.hour])
    }
}
