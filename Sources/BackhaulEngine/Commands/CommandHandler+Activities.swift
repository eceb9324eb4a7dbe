internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Work that repeats.
extension CommandHandler {
    func setActivity(_ activity: Activity, in session: SessionID) throws(Failure) {
        try ActivityCheck.check(activity)
        var origin: Origin?
        if let request = activity.request {
            var intake = RequestIntake()
            origin = try intake.check(request)
            if let configuration = core.sessions[session] { try RequestCheck.check(request, in: configuration) }
            if let destination = request.destination { try core.files.checkIsOutside(destination) }
        }
        let checked = origin
        inspect(activity.request.map { [$0] } ?? []) { handler in handler.set(activity, checked, in: session) }
    }

    private func set(_ activity: Activity, _ origin: Origin?, in session: SessionID) {
        core.calendar.look()
        let now = Clock.wallMilliseconds
        once({ (transaction) throws(Failure) in
            try transaction.setActivity(activity, origin: origin, in: session, now: now)
            return (.done, nil)
        }, then: { core, _ in core.activities.activityChanged() })
    }

    func removeActivity(_ identifier: String, in session: SessionID) {
        once({ (transaction) throws(Failure) in
            try transaction.removeActivity(identifier, in: session)
            return (.done, nil)
        }, then: { core, _ in core.activities.look() })
    }

    func activities(of session: SessionID) {
        core.calendar.look()
        core.activities.look()
        read { (transaction) throws(Failure) in
            .activities(try transaction.activities(session, now: Clock.wallMilliseconds))
        }
    }
}
