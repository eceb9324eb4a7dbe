import BackhaulModel
import Testing

@Suite("Slots under random operations")
struct ScheduleWalkTests {
    @Test(
        "under random operations, the schedule exceeds no limit, and each task starts one time if it is not cancelled",
        arguments: 1...40)
    func walk(_ seed: UInt64) {
        var simulation = ScheduleSimulation(seed: seed)
        for _ in 0..<500 { simulation.step() }
        simulation.drain()
        let problems = simulation.problems
        #expect(problems.isEmpty, "seed \(seed): \(problems.joined(separator: "; "))")
    }
}

/// Simulates a store (the database) with lanes of tasks, and an engine that uses the schedule. The simulation also
/// records the expected state.
private struct ScheduleSimulation {
    struct Lane: Hashable {
        var session: Int
        var origin: Int
    }

    private(set) var problems: [String] = []
    private var random: Random
    private var schedule: Schedule<Lane, Int, Int>
    private var limits: [Int: (perLane: Int, perSession: Int)] = [:]
    private var multiplexed: Set<Lane> = []
    private let lanes: [Lane]
    private let engineLimit: Int
    private let streamLimit = 5

    /// The waiting tasks of each lane in the order of the store, the most important task first.
    private var waiting: [Lane: [Int]] = [:]
    private var loaded: [Lane: [Int]] = [:]
    private var running: [(task: Int, lane: Lane)] = []
    /// The lanes of the further connections of running tasks.
    private var extraConnections: [Lane] = []
    private var results: [(lane: Lane, tasks: [Int], isAll: Bool)] = []
    private var made = 0
    private var ended: Set<Int> = []
    private var dropped = 0
    /// For each lane: the number of tasks that other lanes of its session started while this lane could start a task.
    private var startsOfOthers: [Lane: Int] = [:]
    /// For each session: the number of tasks that other sessions started while this session could start a task.
    private var startsOfOtherSessions: [Int: Int] = [:]

    init(seed: UInt64) {
        random = Random(seed: seed)
        let sessions = random.number(1...4)
        var lanes: [Lane] = []
        for session in 0..<sessions {
            for origin in 0..<random.number(1...5) { lanes.append(Lane(session: session, origin: origin)) }
        }
        self.lanes = lanes
        engineLimit = random.number(1...12)
        schedule = Schedule(
            engineLimits: .init(running: engineLimit), streamLimit: streamLimit, readyTarget: random.number(1...8),
            readyTargetOfAllLanes: random.number(0...30))
        for session in 0..<sessions { setLimits(of: session) }
    }

    private mutating func setLimits(of session: Int) {
        let limit = (perLane: random.number(1...4), perSession: random.number(1...6))
        limits[session] = limit
        schedule.setLimits(.init(perLane: limit.perLane, perSession: limit.perSession), of: session)
    }

    mutating func step() {
        switch random.number(0...21) {
        case 0...4: enqueue()
        case 5...8: finishLoad()
        case 9...15: end()
        case 16: if let lane = random.pick(lanes) { multiplex(lane) }
        case 17: setLimits(of: random.pick(lanes)?.session ?? 0)
        case 18: cancel()
        case 19...20: releaseExtraConnection()
        default:
            guard let lane = random.pick(lanes), waiting[lane]?.isEmpty == false else { return }
            add(lane, reload: random.once(in: 2))
        }
        if !random.once(in: 4) { pump() }
    }

    /// Runs and ends all remaining tasks, and reports a problem if a task never ran.
    mutating func drain() {
        for _ in 0..<100_000 {
            pump()
            if results.isEmpty, running.isEmpty { break }
            if !results.isEmpty { finishLoad() }
            if !running.isEmpty { end() }
            releaseExtraConnection()
        }
        if ended.count + dropped != made {
            problems.append("\(made - ended.count - dropped) of \(made) tasks never ran")
        }
        if schedule.running != 0 { problems.append("\(schedule.running) slots were never released") }
    }

    private mutating func enqueue() {
        guard let lane = random.pick(lanes) else { return }
        let isUrgent = random.once(in: 4)
        for _ in 0..<random.number(1...12) {
            made += 1
            waiting[lane, default: []].insert(made, at: isUrgent ? 0 : waiting[lane, default: []].count)
        }
        add(lane, reload: isUrgent)
    }

    private mutating func add(_ lane: Lane, reload: Bool) {
        let givenUp = schedule.add(lane, of: lane.session, reload: reload)
        waiting[lane, default: []].insert(contentsOf: givenUp, at: 0)
        loaded[lane, default: []].removeAll { givenUp.contains($0) }
    }

    private mutating func multiplex(_ lane: Lane) {
        guard running.contains(where: { $0.lane == lane }) else { return }
        schedule.setMultiplexed(lane)
        multiplexed.insert(lane)
    }

    private mutating func cancel() {
        guard let lane = random.pick(lanes), let task = random.pick(loaded[lane, default: []]) else { return }
        loaded[lane]?.removeAll { $0 == task }
        schedule.drop(task, in: lane)
        dropped += 1
    }

    private mutating func end() {
        guard !running.isEmpty else { return }
        let (task, lane) = running.remove(at: random.number(0...running.count - 1))
        if !ended.insert(task).inserted { problems.append("task \(task) ran twice") }
        schedule.released(lane)
    }

    private mutating func finishLoad() {
        guard !results.isEmpty else { return }
        let result = results.remove(at: random.number(0...results.count - 1))
        let givenUp = schedule.loaded(result.lane, result.tasks, isAll: result.isAll)
        waiting[result.lane, default: []].insert(contentsOf: givenUp, at: 0)
        loaded[result.lane, default: []] += result.tasks.filter { !givenUp.contains($0) }
    }

    private mutating func pump() {
        while let step = schedule.next() {
            switch step {
            case .load(let lane, let limit): load(lane, limit)
            case .start(let task, let lane): start(task, lane)
            case .preempt, .releaseExtraConnection: problems.append("a task is preempted without an urgent task")
            }
        }
        for lane in lanes where mayStart(lane, surely: true) {
            problems.append("a task of \(lane) could start but does not")
        }
        if random.once(in: 2), let lane = random.pick(running)?.lane { takeExtraConnection(lane) }
    }

    private mutating func takeExtraConnection(_ lane: Lane) {
        guard schedule.takeExtraConnection(lane) else { return }
        if results.contains(where: { loaded[$0.lane]?.isEmpty ?? true }) {
            problems.append("a task gets a further connection while tasks are loaded")
        }
        if requests(of: lane) >= width(of: lane) { problems.append("\(lane) gets a connection beyond its limit") }
        extraConnections.append(lane)
    }

    private mutating func releaseExtraConnection() {
        guard let index = extraConnections.indices.randomElement(using: &random) else { return }
        schedule.releasedExtraConnection(extraConnections.remove(at: index))
    }

    /// The simulated store reads the tasks immediately, but the schedule gets the result later.
    private mutating func load(_ lane: Lane, _ limit: Int) {
        if results.contains(where: { $0.lane == lane }) { problems.append("two loads of \(lane) run at the same time") }
        let tasks = Array(waiting[lane, default: []].prefix(limit))
        waiting[lane]?.removeFirst(tasks.count)
        results.append((lane, tasks, tasks.count < limit))
    }

    private mutating func start(_ task: Int, _ lane: Lane) {
        if !mayStart(lane) { problems.append("task \(task) of \(lane) starts beyond a limit") }
        for other in lanes where other.session == lane.session && other != lane {
            if mayStart(other, surely: true) { startsOfOthers[other, default: 0] += 1 }
            // A lane without loaded tasks leaves its session's queue. Later the lane joins the end of the queue.
            if loaded[other]?.isEmpty ?? true { startsOfOthers[other] = 0 }
        }
        for session in limits.keys where session != lane.session {
            if lanes.contains(where: { $0.session == session && mayStart($0, surely: true) }) {
                startsOfOtherSessions[session, default: 0] += 1
            } else if lanes.allSatisfy({ $0.session != session || loaded[$0]?.isEmpty ?? true }) {
                startsOfOtherSessions[session] = 0
            }
        }
        startsOfOthers[lane] = 0
        startsOfOtherSessions[lane.session] = 0
        if startsOfOthers.values.contains(where: { $0 > lanes.count }) { problems.append("a lane waits too long") }
        if startsOfOtherSessions.values.contains(where: { $0 > limits.count }) {
            problems.append("a session waits too long")
        }
        if loaded[lane]?.first != task { problems.append("task \(task) overtakes others of its lane") }
        loaded[lane]?.removeAll { $0 == task }
        running.append((task, lane))
    }

    /// Returns whether the limits permit the lane to start a task. A lane is *multiplexed* if its tasks share an HTTP/2
    /// connection; its limit is then higher. When a lane becomes idle, the schedule forgets that the lane is
    /// multiplexed, but this simulation does not. If `surely` is true, the lower limit is used. Below the lower limit,
    /// the schedule starts a task even if it has forgotten that the lane is multiplexed.
    private func mayStart(_ lane: Lane, surely: Bool = false) -> Bool {
        guard let limit = limits[lane.session], loaded[lane]?.isEmpty == false else { return false }
        return running.count < engineLimit
            && running.count(where: { $0.lane.session == lane.session }) < limit.perSession
            && requests(of: lane) < width(of: lane, surely: surely)
    }

    private func width(of lane: Lane, surely: Bool = false) -> Int {
        let limit = limits[lane.session]?.perLane ?? 0
        return multiplexed.contains(lane) && !surely ? max(streamLimit, limit) : limit
    }

    private func requests(of lane: Lane) -> Int {
        running.count(where: { $0.lane == lane }) + extraConnections.count(where: { $0 == lane })
    }
}
