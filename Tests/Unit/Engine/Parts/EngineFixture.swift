import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// The scheduler, which starts tasks, and the parts of the engine that it uses. They run on one fake event loop.
final class EngineFixture {
    let runtime = FakeRuntime()
    let sessions = SessionTable()
    let calendar: CalendarWatch
    let credentials: CredentialController
    let transfers = TransferSupervisor()
    let reachability: ReachabilityController
    let scheduler: TaskScheduler

    static let session = SessionID(rawValue: 1)
    static let lane = Lane(id: LaneID(rawValue: 1), session: session, origin: origin)
    static let origin = Origin(scheme: "https", server: "example.org", port: 443)

    init() {
        calendar = CalendarWatch(runtime)
        credentials = CredentialController(runtime, sessions, calendar)
        reachability = ReachabilityController(runtime, log: { _ in })
        scheduler = TaskScheduler(runtime, credentials, reachability)
        var configuration = SessionConfiguration(identifier: "photos")
        configuration.asksForCredentials = true
        _ = sessions.set(configuration, of: Self.session)
        scheduler.setLimits(of: Self.session, configuration)
        calendar.begin(runtime.clocks.reading)
    }

    func task(_ number: UInt64, _ path: String = "/file", stating constraints: ConstraintsID = .session) -> StoredTask {
        var task = StoredTask(
            id: TaskID(rawValue: number), session: Self.session, lane: Self.lane.id, round: 1,
            request: Request(url: "https://example.org\(path)"), origin: Self.origin, attempts: 0,
            attemptsWithoutProgress: 0, bytesReceived: 0, enqueuedMilliseconds: calendar.milliseconds,
            furthestOffset: 0, suspendedMilliseconds: 0)
        task.constraints = constraints
        return task
    }
}

extension EngineEffect {
    var isConditionsChanged: Bool { if case .conditionsChanged = self { true } else { false } }
    var isReconsider: Bool { if case .reconsider = self { true } else { false } }
    var isScheduleCheck: Bool { if case .scheduleCheck = self { true } else { false } }
    var isReevaluateDelayed: Bool { if case .reevaluateDelayed = self { true } else { false } }
    var isDecided: Bool { if case .conditionsDecided = self { true } else { false } }
}

extension [EngineEffect] {
    func has(_ kind: (EngineEffect) -> Bool) -> Bool { contains { kind($0) } }
    func count(_ kind: (EngineEffect) -> Bool) -> Int { filter { kind($0) }.count }
    var started: [UInt64] { compactMap { if case .start(let task, _) = $0 { task.id.rawValue } else { nil } } }
    var loaded: [UInt64] { compactMap { if case .load(let lane, _) = $0 { lane.rawValue } else { nil } } }
    var waiting: [Set<UInt64>] {
        compactMap { if case .tasksWait(let lanes, _, _) = $0 { Set(lanes.map(\.rawValue)) } else { nil } }
    }
    var holdActions: [HoldAction] { compactMap { if case .hold(let action) = $0 { action } else { nil } } }
    var deferred: [HeldTasks] { holdActions.compactMap { if case .stop(let tasks, _, _) = $0 { tasks } else { nil } } }
    /// What begins to wait, and what does not wait any more.
    var waitsBegun: [WaitSubject] { compactMap { if case .waitBegan(let subject, _, _) = $0 { subject } else { nil } } }
    var waitsEnded: [WaitSubject] { compactMap { if case .waitEnded(let subject, _) = $0 { subject } else { nil } } }
    var resumed: [UInt64] { flatMap { if case .resume(let tasks) = $0 { tasks.map(\.rawValue) } else { [UInt64]() } } }
    var overdue: [UInt64] {
        flatMap { if case .endOverdue(let tasks) = $0 { tasks.map(\.id.rawValue) } else { [UInt64]() } }
    }
    var finished: [UInt64] {
        flatMap { if case .finish(let tasks) = $0 { tasks.map(\.id.rawValue) } else { [UInt64]() } }
    }
    var probes: [UInt64] { compactMap { if case .startProbe(let task, _, _) = $0 { task.id.rawValue } else { nil } } }
    var reloadedLater: [Set<UInt64>] {
        compactMap { if case .reloadLater(let lanes) = $0 { Set(lanes.map(\.rawValue)) } else { nil } }
    }
    var isToReleaseDue: Bool { contains { if case .releaseDue = $0 { true } else { false } } }
    var isToStart: Bool { contains { if case .startReadyTasks = $0 { true } else { false } } }
}

extension TaskScheduler {
    /// Takes and returns the scheduler's *effects*: the actions that the engine should perform. Stops when `room` tasks
    /// have started or no effect is left.
    func next(room: Int) -> [EngineEffect] {
        var effects: [EngineEffect] = []
        while effects.started.count < room, let effect = next() { effects.append(effect) }
        return effects
    }
}
