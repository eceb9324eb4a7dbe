internal import BackhaulConditions
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// Failures that all origins share are those of the way to them: a portal, or an uplink that is dead.
extension EngineCore {
    /// An attempt has ended, or an answer has begun.
    func noteUplink(_ task: StoredTask, _ ending: UplinkWatch.Ending) {
        guard reach(of: task) == .uplink else { return }
        let changed =
            if ending == .answered {
                deferral.uplink.moved(now: loop.now)
            } else {
                deferral.uplink.take(task.origin, ending, originsInUse: originsInUse, now: loop.now)
            }
        if changed { planReconsider() }
    }

    func isUplinkHeld(for task: StoredTask) -> Bool { deferral.uplink.isHeld && reach(of: task) == .uplink }

    /// Origins beyond the uplink, including those that failed recently. An origin in use that has not failed shows that
    /// the uplink works.
    private var originsInUse: Int {
        var origins = deferral.uplink.failedOrigins
        for runner in runners.values { origins.insert(runner.task.origin) }
        for task in ready.values { origins.insert(task.origin) }
        for id in deferral.waiting.keys { if let lane = lanes[id] { origins.insert(lane.origin) } }
        return origins.count { Reach($0) == .uplink }
    }

    /// Tries one task when it is time to.
    func probeUplink() {
        guard deferral.uplink.isHeld, deferral.uplink.nextProbe(now: loop.now) == nil else { return }
        var candidates: [Origin: LaneClass] = [:]
        for (key, state) in deferral.classes where key.reach == .uplink && state.isHeldByUplinkAlone {
            for lane in deferral.lanes(of: key, among: lanes) {
                let found = LaneClass(lane: lane, constraints: key.constraints)
                guard let origin = lanes[lane]?.origin, deferral.slow[found] == nil, hasTurnForProbe(found) else {
                    continue
                }
                candidates[origin] = found
            }
        }
        guard !candidates.isEmpty,
            let origin = deferral.uplink.probe(among: Array(candidates.keys), now: loop.now),
            let key = candidates[origin]
        else { return }
        probe(key, .uplink)
    }

    /// Of the session, those that a try would let go.
    func heldByUplink(of session: SessionID) -> [LaneID: Set<ConstraintsID>] {
        guard deferral.uplink.isHeld else { return [:] }
        var held: [LaneID: Set<ConstraintsID>] = [:]
        for (key, state) in deferral.classes where key.session == session && state.isHeldByUplinkAlone {
            for lane in deferral.lanes(of: key, among: lanes) { held[lane, default: []].insert(key.constraints) }
        }
        return held
    }

    /// A person says that the way leads somewhere again.
    func tryUplink() {
        deferral.uplink.tryAtOnce(now: loop.now)
        planReconsider()
    }

    /// Nothing else holds them.
    func mayProbeUplink(_ key: LaneClass) -> Bool {
        guard deferral.uplink.isHeld, deferral.slow[key] == nil, let lane = lanes[key.lane] else { return false }
        let task = TaskClass(session: lane.session, constraints: key.constraints, reach: lane.reach)
        return deferral.classes[task]?.isHeldByUplinkAlone == true
    }
}

extension ClassState {
    fileprivate var isHeldByUplinkAlone: Bool { held?.reasons == [.portal] }
}

extension TaskRunner {
    /// What its end says of the way to its origin.
    func noteUplink(_ failure: Failure?) {
        guard requests > 0 else { return }
        let target = head.flatMap(elsewhere)
        let ending = UplinkWatch.Ending(
            failure, redirectedTo: target, hasAnswered: head != nil,
            wasRefused: Routes.isRefused(circumstances.systemError))
        core.noteUplink(task, ending)
    }

    /// Whoever has answered in place of the task's origin: redirects are followed, also those of portals.
    func elsewhere(_ head: ResponseHead) -> Origin? {
        guard head.finalURL != task.request.url, let last = try? WebAddress.origin(of: head.finalURL),
            last != task.origin
        else { return nil }
        return last
    }
}
