internal import BackhaulModel
internal import BackhaulStore

/// Judges whether the uplink works. The uplink is the route from the local network to other networks. If several
/// origins (servers) fail together, the uplink counts as the cause: a portal demands a login, or the uplink is broken.
///
/// Each engine has one object of this type.
final class UplinkMonitor {
    private let runtime: any Runtime
    private let scheduler: TaskScheduler
    private let running: any RunningTasks
    private let waitingLanes: () -> any Sequence<LaneID>
    private var watch = UplinkWatch()

    /// - waitingLanes: the lanes of tasks that wait in the store.
    init(
        _ runtime: any Runtime, _ scheduler: TaskScheduler, _ running: any RunningTasks,
        waitingLanes: @escaping () -> any Sequence<LaneID>
    ) {
        self.runtime = runtime
        self.scheduler = scheduler
        self.running = running
        self.waitingLanes = waitingLanes
    }

    // MARK: Input

    /// Notes that the task has received the beginning of a response.
    func responded(_ task: StoredTask) -> [EngineEffect] {
        guard scheduler.networkScope(of: task) == .uplink else { return [] }
        return watch.moved(now: runtime.now) ? [.reconsider] : []
    }

    /// Notes how an attempt ended.
    func ended(_ task: StoredTask, _ ending: UplinkWatch.Ending) -> [EngineEffect] {
        guard scheduler.networkScope(of: task) == .uplink else { return [] }
        if ending == .responded { return responded(task) }
        let isOther = watch.take(task.origin, ending, originsInUse: originsInUse, now: runtime.now)
        return isOther ? [.reconsider] : []
    }

    /// The number of origins beyond the uplink that have tasks, or that failed recently. If there are more than two
    /// such origins, the uplink counts as broken only after three of them have failed. If there are two, both have to
    /// fail. If there is only one, its failures are not enough.
    private var originsInUse: Int {
        var origins = watch.failedOrigins
        running.visit { origins.insert($0.origin) }
        for task in scheduler.ready.values { origins.insert(task.origin) }
        for id in waitingLanes() { if let lane = scheduler.lanes[id] { origins.insert(lane.origin) } }
        return origins.count { NetworkScope($0) == .uplink }
    }

    func networkChanged() { _ = watch.networkChanged() }

    /// Takes the connectivity that the system reports.
    func connectivity(_ state: ConnectivityState?) -> [EngineEffect] {
        watch.connectivity(state, now: runtime.now) ? [.reconsider] : []
    }

    // MARK: Probes

    /// A probe is a task that tests the uplink. This function makes the next probe due now, because the user has
    /// resumed tasks that the uplink holds.
    func probeNow() -> [EngineEffect] {
        watch.probeNow(now: runtime.now)
        return [.reconsider]
    }

    /// Whether a task may be started as a probe now.
    var mayProbe: Bool { watch.isHeld && watch.nextProbe(now: runtime.now) == nil }

    /// Chooses the origin whose task is started as the probe.
    func probe(among origins: [Origin]) -> Origin? { watch.probe(among: origins, now: runtime.now) }

    func cancelProbe() { watch.cancelProbe(now: runtime.now) }

    /// The next time after `time` at which a probe becomes due, by the boot clock.
    func nextProbe(since time: Int64) -> Int64? { watch.nextProbe(now: time) }

    // MARK: State

    var isHeld: Bool { watch.isHeld }
    var isProven: Bool { watch.isProven }

    func isHeld(for task: StoredTask) -> Bool { watch.isHeld && scheduler.networkScope(of: task) == .uplink }

    /// - unix: the present time in Unix milliseconds.
    func hold(unix: Int64) -> Hold? { watch.hold(now: runtime.now, unix: unix) }
}
