internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Launches hosts when their sessions need them: asks the store what there is, `LaunchDecision` what to do, and does
/// it. Lives on the engine's loop.
final class Launches {
    /// Hosts that an engine had which has died connect to this one within that.
    private static let settlingMilliseconds: Int64 = 1_000
    /// Between two looks at a store that cannot be read, or at processes without a pidfd.
    static let pauseMilliseconds: Int64 = 1_000

    unowned let core: EngineCore
    private(set) var applications: [String: LaunchedApplication] = [:]
    var stopped = StoppedProcesses()
    private var timer: LoopTimer?
    var launcher: Launcher?
    private let startedAt = Clock.bootMilliseconds

    init(core: EngineCore) {
        self.core = core
        timer = core.loop.timer { [unowned self] in wake() }
    }

    /// A launched host is watched, or an application is to be launched, now or after a delay.
    var isBusy: Bool { applications.values.contains(where: \.isBusy) }

    /// What the rows of an engine before this one tell.
    func opened(_ stored: [StoredLaunch]) {
        for launch in stored { add(launch) }
    }

    func close() {
        timer?.stop()
        applications = [:]
        launcher?.close()
    }

    /// The application's command was registered or, with nil, removed.
    func registered(_ launch: StoredLaunch?, of name: String) {
        guard let launch else {
            // What lives is watched on: should a command be registered again, there is one launch at a time.
            applications[name]?.isRemoved = true
            return look(at: name)
        }
        if let application = applications[name] {
            application.isRemoved = false
            application.stored.command = launch.command
            application.stored.backoff = launch.backoff
            application.stored.errorMessage = launch.errorMessage
        } else {
            add(launch)
        }
        look(at: name)
    }

    private func add(_ launch: StoredLaunch) {
        let application = LaunchedApplication(launch)
        applications[launch.application] = application
        if let process = launch.current?.process {
            application.lives(now: Clock.bootMilliseconds)
            watch(process, of: application)
            settle(application)
        }
        look(at: launch.application)
    }

    // MARK: What happens

    func hostCame(_ connection: ClientConnection) {
        guard let hello = connection.hello, let process = connection.process, !hello.isObserver,
            let application = applications[hello.application]
        else { return }
        let before = application.stored
        if application.owns(connection) {
            watch(process, of: application)
            application.lives(now: Clock.bootMilliseconds)
            if application.stored.current?.process == nil { application.stored.current?.process = process }
        } else {
            application.stored.backoff.hostCame(whileLaunchedOneLives: application.isUnderWay)
        }
        if application.stored != before { save(application) }
        look(at: hello.application)
    }

    func hostLeft(_ connection: ClientConnection) {
        guard let hello = connection.hello else { return }
        stopped.forget(hello.process)
        guard let application = applications[hello.application] else { return }
        settle(application)
        look(at: hello.application)
    }

    /// A host of the launch consumes a session that it was launched for, as its row says already. It may have closed
    /// its connection in the meantime.
    func attached(_ name: String, _ consumer: ConsumerIdentity) {
        guard let application = applications[name], application.stored.current?.token == consumer.launch else { return }
        watch(consumer.process, of: application)
        application.lives(now: Clock.bootMilliseconds)
        application.change { $0.hasAttached = true }
        application.stored.current?.hasAttached = true
        application.stored.current?.process = consumer.process
        look(at: name)
    }

    /// A session was completed, by whomever. `hasRead`: it was handed something.
    func completed(in name: String, _ completion: Transaction.Completion, hasRead: Bool) {
        guard let application = applications[name] else { return }
        // Or a host that completes what it never reads, or what it was not launched for, or that answers challenges
        // wrongly, would be launched again and again without a delay.
        if completion.wasRepeated {
            application.wasInVain = true
        } else if completion.wasLaunched, !completion.isWaiting || hasRead {
            application.stored.backoff.succeeded()
            application.stored.errorMessage = nil
            save(application)
        }
        look(at: name)
    }

    // MARK: Looking

    /// Something has changed that may launch, or end a launch.
    func look(at name: String) {
        guard let application = applications[name] else { return }
        guard !application.isLooking else {
            application.looksAgain = true
            return
        }
        application.isLooking = true
        application.wakeAt = nil
        let addsToLaunch = application.isLiving
        core.store({ (transaction) throws(Failure) in
            if addsToLaunch { try transaction.listWaiting(of: name) }
            return try transaction.seen(name)
        }, then: { core, result in core.launches.looked(at: name, result) })
    }

    private func looked(at name: String, _ result: Result<LaunchedApplication.Seen, Failure>) {
        guard let application = applications[name] else { return core.idle.mayBeIdle() }
        application.isLooking = false
        let now = Clock.bootMilliseconds
        if application.isRemoved, !application.isUnderWay {
            applications[name] = nil
            return core.idle.mayBeIdle()
        }
        switch result {
        case .failure: wake(application, at: now + Self.pauseMilliseconds)
        case .success(let seen): perform(step(facts(application, seen), now), of: application)
        }
        if application.looksAgain {
            application.looksAgain = false
            look(at: name)
        }
        core.idle.mayBeIdle()
    }

    func facts(_ application: LaunchedApplication, _ seen: LaunchedApplication.Seen) -> LaunchDecision.Facts {
        let hasHost = core.clients.all.contains { connection in
            guard let hello = connection.hello, hello.application == application.name else { return false }
            return !hello.isObserver && !application.owns(connection)
        }
        return application.facts(seen, hasHost: hasHost, stopped: &stopped, now: Clock.bootMilliseconds)
    }

    private func step(_ facts: LaunchDecision.Facts, _ now: Int64) -> LaunchDecision.Step {
        let step = LaunchDecision.next(facts)
        let settledAt = startedAt + Self.settlingMilliseconds
        return step == .launch && now < settledAt ? .wait(until: settledAt) : step
    }

    func wake(_ application: LaunchedApplication, at time: Int64) {
        application.wakeAt = time
        startTimer()
    }

    private func startTimer() {
        guard let next = applications.values.compactMap(\.wakeAt).min() else { return }
        timer?.start(milliseconds: next - Clock.bootMilliseconds)
    }

    private func wake() {
        let now = Clock.bootMilliseconds
        for application in Array(applications.values) {
            guard let time = application.wakeAt, time <= now else { continue }
            settle(application)
            look(at: application.name)
        }
        startTimer()
    }

    // MARK: Watching

    func watch(_ process: ProcessIdentity, of application: LaunchedApplication) {
        let name = application.name
        _ = application.watch(process, on: core.loop) { [unowned self] in
            guard let application = applications[name] else { return }
            settle(application)
            look(at: name)
        }
    }

    /// Notices the end of the launched host: none of its processes lives, and none is connected.
    func settle(_ application: LaunchedApplication) {
        application.dropEndedProcesses()
        guard case .living(let living) = application.run, !application.hasProcesses,
            !core.clients.all.contains(where: application.owns)
        else { return }
        application.isGone()
        if living.askedAt == nil {
            application.stored.errorMessage = living.hasAttached
                ? "the launched program ended without completing its sessions"
                : "the launched program ended before it attached a session"
        }
    }
}
