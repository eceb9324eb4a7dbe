internal import BackhaulModel
internal import BackhaulStore

/// What the engine knows of a session while it has tasks or somebody looks at it.
extension EngineCore {
    func remember(_ configuration: SessionConfiguration, of session: SessionID) {
        let isOther = sessions.set(configuration, of: session)
        cookies.configure(configuration.cookies, of: session)
        scheduler.setLimits(of: session, configuration)
        setRate(configuration.bytesPerSecond, of: .session(session))
        apply(conditions.configurationChanged(of: session))
        if isOther { admission.judgeDelayed() }
    }

    func forget(_ session: SessionID) {
        sessions.forget(session)
        setRate(nil, of: .session(session))
        credentials.forget(session)
        cookies.forget(session)
        scheduler.forget(session)
        holds.forget(session)
        conditions.planPruning()
    }

    /// Limited tasks of HTTP/2 get connections of their own.
    func setRate(_ bytesPerSecond: UInt64?, of level: RateLimiter.Level) {
        rates.setRate(bytesPerSecond, of: level)
        guard bytesPerSecond != nil else { return }
        switch level {
        case .engine: for lane in lanes.keys { scheduler.needsSeparateConnections(lane) }
        case .session(let session):
            for lane in scheduler.lanes(of: session) { scheduler.needsSeparateConnections(lane.id) }
        case .task(let task):
            if let lane = transfers[task]?.attempt.task.lane { scheduler.needsSeparateConnections(lane) }
        }
    }

    func setRate(_ bytesPerSecond: UInt64?, of tasks: [TaskID]) {
        for id in tasks {
            scheduler.changeReady(id) { $0.request.options.policy.bytesPerSecond = bytesPerSecond }
            guard let attempt = transfers[id]?.attempt else { continue }
            attempt.task.request.options.policy.bytesPerSecond = bytesPerSecond
            rates.setRate(bytesPerSecond, of: .task(id))
        }
    }
}

extension EngineCore: ProgressSource {
    var runningSessions: Set<SessionID> { Set(transfers.all.map(\.attempt.task.session)) }

    func readings(of session: SessionID) -> [Progress] {
        transfers.all.lazy.filter { $0.attempt.task.session == session }.map(\.progress)
    }
}
