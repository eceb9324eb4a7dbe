internal import BackhaulModel
internal import CBackhaul

/// The values that a listing or a poll brings.
enum BatchContent: Sendable {
    case events([Event], more: Bool)
    case tasks([TaskInfo], more: Bool)
    case sessions([SessionInfo])
    case configuration(SessionConfiguration)
    case challenges([Challenge])
    case attempts([Attempt])
    case limits(EngineLimits)
    case waits([Wait])
    case conditions([ConditionInfo])
    case holds([HoldInfo])
    case networks([NetworkInfo])
    case activities([ActivityInfo])
    case existing([(request: Int, Enqueued)])
    case progress([Progress])
    case currentLaunch(CurrentLaunch?)
    case launches([LaunchInfo])
    case engine(EngineInfo, storePath: String)
}

/// A `bh_batch`: an array of C structs and all they point to, laid out once.
final class Batch: @unchecked Sendable {
    // Unchecked: nothing changes after init, so any thread may read what the pointers point to.
    private enum Items {
        case events(UnsafePointer<bh_event>)
        case tasks(UnsafePointer<bh_task>)
        case sessions(UnsafePointer<bh_session_info>)
        case configurations(UnsafePointer<bh_session_configuration>)
        case challenges(UnsafePointer<bh_challenge>)
        case attempts(UnsafePointer<bh_attempt>)
        case limits(UnsafePointer<bh_limits>)
        case waits(UnsafePointer<bh_wait>)
        case conditions(UnsafePointer<bh_condition>)
        case holds(UnsafePointer<bh_hold>)
        case networks(UnsafePointer<bh_network>)
        case activities(UnsafePointer<bh_activity>)
        case existing(UnsafePointer<bh_existing_task>)
        case progress(UnsafePointer<bh_progress>)
        case currentLaunches(UnsafePointer<bh_launch>)
        case launches(UnsafePointer<bh_launch_info>)
        case engines(UnsafePointer<bh_engine_info>)
    }

    let count: Int
    let more: Bool
    private let items: Items
    private let arena: Arena

    init(_ content: BatchContent) {
        var arena = Arena()
        switch content {
        case .events(let events, let more):
            (count, self.more) = (events.count, more)
            items = .events(Batch.lay(events, in: &arena) { bh_event($0, in: &$1) })
        case .tasks(let tasks, let more):
            (count, self.more) = (tasks.count, more)
            items = .tasks(Batch.lay(tasks, in: &arena) { bh_task($0, in: &$1) })
        case .sessions(let sessions):
            (count, more) = (sessions.count, false)
            items = .sessions(Batch.lay(sessions, in: &arena) { bh_session_info($0, in: &$1) })
        case .configuration(let configuration):
            (count, more) = (1, false)
            items = .configurations(
                Batch.lay([configuration], in: &arena) { bh_session_configuration($0, in: &$1) })
        case .challenges(let challenges):
            (count, more) = (challenges.count, false)
            items = .challenges(Batch.lay(challenges, in: &arena) { bh_challenge($0, in: &$1) })
        case .attempts(let attempts):
            (count, more) = (attempts.count, false)
            items = .attempts(Batch.lay(attempts, in: &arena) { bh_attempt($0, in: &$1) })
        case .limits(let limits):
            (count, more) = (1, false)
            items = .limits(Batch.lay([limits], in: &arena) { limits, _ in bh_limits(limits) })
        case .waits(let waits):
            (count, more) = (waits.count, false)
            items = .waits(Batch.lay(waits, in: &arena) { bh_wait($0, in: &$1) })
        case .conditions(let conditions):
            (count, more) = (conditions.count, false)
            items = .conditions(Batch.lay(conditions, in: &arena) { bh_condition($0, in: &$1) })
        case .holds(let holds):
            (count, more) = (holds.count, false)
            items = .holds(Batch.lay(holds, in: &arena) { bh_hold($0, in: &$1) })
        case .networks(let networks):
            (count, more) = (networks.count, false)
            items = .networks(Batch.lay(networks, in: &arena) { bh_network($0, in: &$1) })
        case .activities(let activities):
            (count, more) = (activities.count, false)
            items = .activities(Batch.lay(activities, in: &arena) { bh_activity($0, in: &$1) })
        case .existing(let tasks):
            (count, more) = (tasks.count, false)
            items = .existing(Batch.lay(tasks, in: &arena) { task, _ in bh_existing_task(task.1, of: task.request) })
        case .progress(let readings):
            (count, more) = (readings.count, false)
            items = .progress(Batch.lay(readings, in: &arena) { reading, _ in bh_progress(reading) })
        case .currentLaunch(let launch):
            (count, more) = (launch == nil ? 0 : 1, false)
            items = .currentLaunches(Batch.lay(launch.map { [$0] } ?? [], in: &arena) { bh_launch($0, in: &$1) })
        case .launches(let launches):
            (count, more) = (launches.count, false)
            items = .launches(Batch.lay(launches, in: &arena) { bh_launch_info($0, in: &$1) })
        case .engine(let engine, let storePath):
            (count, more) = (1, false)
            items = .engines(
                Batch.lay([engine], in: &arena) { bh_engine_info($0, storePath: storePath, in: &$1) })
        }
        self.arena = arena
    }

    private static func lay<Value, Item: BitwiseCopyable>(
        _ values: [Value], in arena: inout Arena, _ make: (Value, inout Arena) -> Item
    ) -> UnsafePointer<Item> {
        let items = arena.room(for: values.count, of: Item.self)
        for (index, value) in values.enumerated() { (items + index).initialize(to: make(value, &arena)) }
        return UnsafePointer(items)
    }

    // Nil when the batch holds another kind or fewer items.

    func event(at index: Int) -> UnsafePointer<bh_event>? {
        guard case .events(let items) = items else { return nil }
        return item(items, index)
    }

    func task(at index: Int) -> UnsafePointer<bh_task>? {
        guard case .tasks(let items) = items else { return nil }
        return item(items, index)
    }

    func session(at index: Int) -> UnsafePointer<bh_session_info>? {
        guard case .sessions(let items) = items else { return nil }
        return item(items, index)
    }

    func configuration(at index: Int) -> UnsafePointer<bh_session_configuration>? {
        guard case .configurations(let items) = items else { return nil }
        return item(items, index)
    }

    func challenge(at index: Int) -> UnsafePointer<bh_challenge>? {
        guard case .challenges(let items) = items else { return nil }
        return item(items, index)
    }

    func attempt(at index: Int) -> UnsafePointer<bh_attempt>? {
        guard case .attempts(let items) = items else { return nil }
        return item(items, index)
    }

    func limits(at index: Int) -> UnsafePointer<bh_limits>? {
        guard case .limits(let items) = items else { return nil }
        return item(items, index)
    }

    func wait(at index: Int) -> UnsafePointer<bh_wait>? {
        guard case .waits(let items) = items else { return nil }
        return item(items, index)
    }

    func condition(at index: Int) -> UnsafePointer<bh_condition>? {
        guard case .conditions(let items) = items else { return nil }
        return item(items, index)
    }

    func hold(at index: Int) -> UnsafePointer<bh_hold>? {
        guard case .holds(let items) = items else { return nil }
        return item(items, index)
    }

    func network(at index: Int) -> UnsafePointer<bh_network>? {
        guard case .networks(let items) = items else { return nil }
        return item(items, index)
    }

    func activity(at index: Int) -> UnsafePointer<bh_activity>? {
        guard case .activities(let items) = items else { return nil }
        return item(items, index)
    }

    func existing(at index: Int) -> UnsafePointer<bh_existing_task>? {
        guard case .existing(let items) = items else { return nil }
        return item(items, index)
    }

    func progress(at index: Int) -> UnsafePointer<bh_progress>? {
        guard case .progress(let items) = items else { return nil }
        return item(items, index)
    }

    func launch(at index: Int) -> UnsafePointer<bh_launch>? {
        guard case .currentLaunches(let items) = items else { return nil }
        return item(items, index)
    }

    func launchInfo(at index: Int) -> UnsafePointer<bh_launch_info>? {
        guard case .launches(let items) = items else { return nil }
        return item(items, index)
    }

    func engine(at index: Int) -> UnsafePointer<bh_engine_info>? {
        guard case .engines(let items) = items else { return nil }
        return item(items, index)
    }

    private func item<Item>(_ items: UnsafePointer<Item>, _ index: Int) -> UnsafePointer<Item>? {
        index >= 0 && index < count ? items + index : nil
    }
}
