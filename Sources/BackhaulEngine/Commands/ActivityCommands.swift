internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The commands for activities.
struct ActivityCommands {
    let call: CommandCall
    private var engine: EngineLoop { call.engine }

    func setActivity(_ activity: Activity, in session: SessionID) throws(Failure) {
        try ActivityCheck.check(activity)
        var origin: Origin?
        if let request = activity.request {
            var intake = RequestIntake()
            origin = try intake.check(request, in: engine.base.sessions[session])
            if let configuration = engine.base.sessions[session] { try RequestCheck.check(request, in: configuration) }
            if let destination = request.destination { try engine.base.files.checkIsOutside(destination) }
        }
        let requests = activity.request.map { [$0] } ?? []
        let positions = call.uninspected(requests)
        guard !positions.isEmpty else { return set(activity, origin, in: session) }
        call.inspect(requests, at: positions) { [origin] in set(activity, origin, in: session) }
    }

    private func set(_ activity: Activity, _ origin: Origin?, in session: SessionID) {
        var activity = activity
        activity.request = activity.request.map(call.located)
        engine.base.calendar.check()
        let clock = engine.runtime.clocks.reading
        call.applyOnce(
            { [activity] (transaction) throws(Failure) in
                let now = try transaction.delays.wallBeforeStep(clock)
                try transaction.activities.set(activity, origin: origin, in: session, now: now)
                return (.done, nil)
            }, then: { _ in engine.hosts.activities.activityChanged() })
    }

    func removeActivity(_ identifier: String, in session: SessionID) {
        call.applyOnce(
            { (transaction) throws(Failure) in
                try transaction.activities.remove(identifier, in: session)
                return (.done, nil)
            }, then: { _ in engine.hosts.activities.check() })
    }

    func activities(of session: SessionID) {
        engine.base.calendar.check()
        engine.hosts.activities.check()
        call.read { [clocks = engine.runtime.clocks] (transaction) throws(Failure) in
            .activities(try transaction.activities.infos(of: session, now: clocks.wallMilliseconds))
        }
    }
}
