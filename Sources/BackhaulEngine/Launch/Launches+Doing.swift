internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What is decided is done here.
extension Launches {
    func perform(_ step: LaunchDecision.Step, of application: LaunchedApplication) {
        let now = Clock.bootMilliseconds
        switch step {
        case .rest, .leaveAlone:
            if application.needsPolling { wake(application, at: now + Self.pauseMilliseconds) }
            return
        case .wait(let time):
            wake(application, at: application.needsPolling ? min(time, now + Self.pauseMilliseconds) : time)
            return
        case .launch:
            launch(application)
            return
        case .askToEnd:
            application.change { $0.askedAt = now }
            application.stored.errorMessage =
                "the launched program attached no session within \(application.policy.attachTimeout) ms and was ended"
            launcherForUse()?.askToEnd(application.watched, unit: application.stored.current?.unit)
        case .kill:
            application.change { $0.isKilled = true }
            launcherForUse()?.kill(application.watched)
        case .extendAttachTime: application.change { $0.attachBy = now + application.policy.attachTimeout }
        case .over:
            application.isForgotten()
            application.stored.current = nil
            if application.wasInVain {
                application.stored.errorMessage = "the answers of the launched program to a challenge do not serve"
            } else {
                application.stored.errorMessage = nil
                application.stored.backoff.succeeded()
            }
        case .failed:
            application.isForgotten()
            // Its token stays good: a wrapper may have ended before the host that it has started connects.
            application.stored.current?.process = nil
            application.stored.backoff.ended(now: now, application.policy)
        }
        save(application)
        look(at: application.name)
    }

    func save(_ application: LaunchedApplication) {
        let stored = application.stored
        core.store({ (transaction) throws(Failure) in try transaction.save(stored) }, then: { _, _ in })
    }

    private func launcherForUse() -> Launcher? {
        if launcher == nil { launcher = try? Launcher() }
        return launcher
    }

    private func launch(_ application: LaunchedApplication) {
        let name = application.name
        let before = application.stored.backoff
        application.starts()
        application.stored.backoff.launched(now: Clock.bootMilliseconds, application.policy)
        let (backoff, secret) = (application.stored.backoff, UInt64.random(in: .min ... .max))
        core.store({ (transaction) throws(Failure) in
            try transaction.beginLaunch(of: name, secret: secret, backoff: backoff, now: Clock.wallMilliseconds)
        }, then: { core, result in core.launches.began(name, result, before) })
    }

    private func began(_ name: String, _ result: Result<StoredLaunch?, Failure>, _ before: LaunchBackoff) {
        guard let application = applications[name] else { return }
        guard case .success(let launch?) = result, let current = launch.current else {
            // Its sessions were read meanwhile, or the store cannot be written for now.
            application.isForgotten()
            application.stored.backoff = before
            return wake(application, at: Clock.bootMilliseconds + Self.pauseMilliseconds)
        }
        application.stored.current = current
        let order = LaunchOrder(
            application: name, command: application.stored.command,
            environment: environment(of: application, current.token),
            unit: "backhaul-\(name.prefix(150))-\(String(current.token.secret, radix: 16)).service")
        guard let launcher = launcherForUse() else {
            started(name, current.token, .failure(Failure(.outOfResources, "no thread for the launch can be started")))
            return
        }
        let outbox = core.services.outbox
        launcher.start(order) { result in
            outbox.post { core in core.launches.started(name, current.token, result) }
        }
    }

    private func started(_ name: String, _ token: LaunchToken, _ result: Result<LaunchedProcess, Failure>) {
        guard let application = applications[name], application.stored.current?.token == token else { return }
        switch result {
        case .success(let launched):
            application.stored.current?.unit = launched.unit
            if application.stored.current?.process == nil { application.stored.current?.process = launched.process }
            application.lives(now: Clock.bootMilliseconds)
            if let process = launched.process { watch(process, of: application) }
            settle(application)
        case .failure(let failure):
            application.isGone()
            application.stored.errorMessage = "the program cannot be launched: \(failure.message)"
        }
        save(application)
        look(at: name)
    }

    private func environment(of application: LaunchedApplication, _ token: LaunchToken) -> [String: String] {
        let inherited = Environment.variable("BACKHAUL_DAEMON")
        return LaunchEnvironment.make(
            of: Environment.entries, additions: application.stored.command.environment,
            application: application.name, token: token, store: core.services.directory.path,
            daemon: core.services.options.isDaemon ? Environment.ownProgram : inherited, home: Environment.home)
    }
}
