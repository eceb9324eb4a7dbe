internal import BackhaulModel
internal import BackhaulStore

/// What the engine knows of a session while it has tasks or somebody looks at it.
extension EngineCore {
    func remember(_ configuration: SessionConfiguration, of session: SessionID) {
        let isOther = sessions[session] != configuration
        sessions[session] = configuration
        keepCookies(configuration.cookies, of: session)
        schedule.setLimits(
            .init(
                perLane: Int(configuration.connectionsPerOrigin), perSession: Int(configuration.maximumRunningTasks)),
            of: session)
        setRate(configuration.bytesPerSecond, of: .session(session))
        constraintsChanged(of: session)
        // Whoever only looks changes nothing.
        if isOther { releaseDelayed() }
    }

    func forget(_ session: SessionID) {
        sessions[session] = nil
        setRate(nil, of: .session(session))
        credentials[session] = nil
        cookies[session] = nil
        schedule.forget(session: session)
        forgetConstraints(of: session)
    }
}
