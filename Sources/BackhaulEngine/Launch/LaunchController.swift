internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Starts a program when one of its sessions needs it. A session is a named collection of tasks, and needs its program
/// for example when all its tasks have ended. Such a start is a *launch*, and the program is a *host*. This object
/// reads the state from the store, lets `LaunchDecision` decide, and performs the decision.
///
/// Each engine has one object of this type. It owns the list of stopped hosts, and the applications that have
/// registered a launch command (the program to start). An application is an identifier for hosts that belong together.
final class LaunchController {
    /// How long the engine waits after its start for the hosts of an earlier engine to connect, in milliseconds. It
    /// launches no host during this time.
    private static let reconnectGraceMilliseconds: Int64 = 1_000
    /// The delay before the next check, in milliseconds. It is used if the store cannot be read, or if the system
    /// offers no descriptors of processes (pidfd).
    private static let pauseMilliseconds: Int64 = 1_000

    private let runtime: any Runtime
    private let clients: ClientRegistry
    private let starter: any HostStarter
    private let findProcess: (ProcessIdentity) -> (any HostProcess)?
    private var applications: [String: LaunchedApplication] = [:]
    private var stopped: StoppedProcesses
    private var timer: (any RuntimeTimer)?
    /// When the timer is due.
    private var timerDue: Int64 = 0
    private let startedAt: Int64

    /// - findProcess: returns the process, or nil if it has ended.
    /// - isStopped: whether the process with this id is stopped.
    init(
        _ runtime: any Runtime, _ clients: ClientRegistry, _ starter: any HostStarter,
        findProcess: @escaping (ProcessIdentity) -> (any HostProcess)? = { WatchedProcess($0) },
        isStopped: @escaping (Int32) -> Bool = ProcessIdentity.isStopped(processID:)
    ) {
        self.runtime = runtime
        self.clients = clients
        self.starter = starter
        self.findProcess = findProcess
        stopped = StoppedProcesses(runtime.clocks, isStopped: isStopped)
        startedAt = runtime.now
        timer = runtime.timer { [unowned self] in
            wake()
            return []
        }
    }

    /// Whether a launched host is watched, or a host has to be launched now or after a delay.
    var isBusy: Bool { applications.values.contains(where: \.isBusy) }

    /// Takes over the launches of an earlier engine. A host that started this engine may have connected before.
    func restore(_ stored: [StoredLaunch]) {
        for launch in stored { add(launch) }
        for connection in clients.all { hostConnected(connection) }
    }

    func close() {
        timer?.stop()
        applications = [:]
        starter.close()
    }

    /// Handles a change of the application's launch command. `launch`: the registered command; nil if the command was
    /// removed.
    func registered(_ launch: StoredLaunch?, of name: String) {
        guard let launch else {
            // A living host is still watched. If a command is registered again while this host lives, no second host is
            // launched.
            applications[name]?.remove()
            return check(at: name)
        }
        guard let application = applications[name] else { return add(launch) }
        application.register(launch)
        check(at: name)
    }

    private func add(_ launch: StoredLaunch) {
        let application = LaunchedApplication(launch, HostProcesses(runtime, find: findProcess))
        applications[launch.application] = application
        if let process = launch.current?.process {
            application.confirmRunning(now: runtime.now)
            watch(process, of: application)
            settle(application)
        }
        check(at: launch.application)
    }

    // MARK: Input

    func hostConnected(_ connection: ClientConnection) {
        guard let hello = connection.hello, let process = connection.process, !hello.isObserver,
            let application = applications[hello.application]
        else { return }
        let before = application.stored
        if application.owns(connection) {
            watch(process, of: application)
            application.launchedHostConnected(process, now: runtime.now)
        } else {
            application.otherHostConnected()
        }
        if application.stored != before { save(application) }
        check(at: hello.application)
    }

    func hostDisconnected(_ connection: ClientConnection) {
        guard let hello = connection.hello else { return }
        stopped.forget(hello.process)
        guard let application = applications[hello.application] else { return }
        settle(application)
        check(at: hello.application)
    }

    /// Notes that a launched host has attached a session that its launch lists. To attach a session is to open it for
    /// the use of its tasks and events. The row of the launch in the store is already up to date. The host may have
    /// closed its connection meanwhile.
    func attached(_ name: String, _ consumer: ConsumerIdentity) {
        guard let application = applications[name], application.stored.current?.token == consumer.launch else { return }
        watch(consumer.process, of: application)
        application.attached(consumer.process, now: runtime.now)
        check(at: name)
    }

    /// Handles the completion of a session by any process: the process states that it has processed all events of the
    /// session. `hasRead`: whether the process had received events before the completion.
    func completed(in name: String, _ completion: LaunchCompletion, hasRead: Bool) {
        guard let application = applications[name] else { return }
        if application.completed(completion, hasRead: hasRead) { save(application) }
        check(at: name)
    }

    /// Called when the engine sends an event to a host. If the host's process is stopped now, and was not stopped at
    /// the last check, checks whether another host has to be launched.
    func eventArrived(for connection: ClientConnection) {
        guard let process = connection.process, let application = connection.application else { return }
        if stopped.noteEvent(for: process.processID, now: runtime.now) { check(at: application) }
    }

    // MARK: Checks

    /// Checks the application; nil: all of them.
    func checkLaunches(of application: String?) {
        for name in application.map({ [$0] }) ?? applications.keys.sorted() { check(at: name) }
    }

    /// Checks an application after a change that may start or end a launch.
    func check(at name: String) {
        guard let application = applications[name], application.check.begin() else { return }
        application.wakeAt = nil
        let addsToLaunch = application.isHostRunning
        runtime.store(
            { (transaction) throws(Failure) in
                if addsToLaunch { try transaction.launches.listWaiting(of: name) }
                return try transaction.storedFacts(name)
            },
            then: { [unowned self] result in
                checked(at: name, result)
                return [.mayBeIdle]
            })
    }

    private func checked(at name: String, _ result: Result<LaunchedApplication.StoredFacts, Failure>) {
        guard let application = applications[name] else { return }
        let checksAgain = application.check.end()
        if application.isRemoved, !application.isUnderWay {
            applications[name] = nil
            return
        }
        switch result {
        case .failure: wake(application, at: runtime.now + Self.pauseMilliseconds)
        case .success(let storedFacts): perform(step(facts(application, storedFacts)), of: application)
        }
        if checksAgain { check(at: name) }
    }

    private func facts(
        _ application: LaunchedApplication, _ storedFacts: LaunchedApplication.StoredFacts
    ) -> LaunchDecision.Facts {
        let hasHost = clients.all.contains { connection in
            guard let hello = connection.hello, hello.application == application.name else { return false }
            return !hello.isObserver && !application.owns(connection)
        }
        return application.facts(storedFacts, hasHost: hasHost, stopped: &stopped, now: runtime.now)
    }

    private func step(_ facts: LaunchDecision.Facts) -> LaunchDecision.Step {
        let step = LaunchDecision.next(facts)
        let settledAt = startedAt + Self.reconnectGraceMilliseconds
        return step == .launch && facts.now < settledAt ? .wait(until: settledAt) : step
    }

    private func wake(_ application: LaunchedApplication, at time: Int64) {
        application.wakeAt = time
        startTimer()
    }

    private func startTimer() {
        guard let next = applications.values.compactMap(\.wakeAt).min() else { return }
        timerDue = max(next, runtime.now)
        timer?.start(milliseconds: timerDue - runtime.now)
    }

    private func wake() {
        // While the machine slept, no launched host could attach a session or end.
        if runtime.now - timerDue > Self.pauseMilliseconds {
            for application in applications.values { application.restartTimes(now: runtime.now) }
        }
        for application in applications.values.sorted(by: { $0.name < $1.name }) {
            guard let time = application.wakeAt, time <= runtime.now else { continue }
            application.wakeAt = nil
            settle(application)
            check(at: application.name)
        }
        startTimer()
    }

    // MARK: Launches

    private func perform(_ step: LaunchDecision.Step, of application: LaunchedApplication) {
        let now = runtime.now
        let nextPoll = application.processes.needPolling ? now + Self.pauseMilliseconds : nil
        switch step {
        case .rest, .giveUp:
            if let nextPoll { wake(application, at: nextPoll) }
            return
        case .wait(let time): return wake(application, at: min(time, nextPoll ?? .max))
        case .launch: return launch(application)
        case .terminate:
            application.terminationRequested(now: now)
            starter.terminate(application.processes.all, unit: application.stored.current?.unit)
        case .kill:
            application.killed()
            starter.kill(application.processes.all)
        case .extendAttachTime: application.extendAttachTime(now: now)
        case .over: application.end()
        case .failed: application.fail(now: now)
        }
        save(application)
        check(at: application.name)
    }

    private func save(_ application: LaunchedApplication) {
        let stored = application.stored
        runtime.store({ (transaction) throws(Failure) in try transaction.launches.save(stored) }, then: { _ in [] })
    }

    private func launch(_ application: LaunchedApplication) {
        let name = application.name
        let before = application.begin(now: runtime.now)
        let (backoff, secret) = (application.stored.backoff, runtime.random())
        runtime.store(
            { [clocks = runtime.clocks] (transaction) throws(Failure) in
                try transaction.launches.begin(of: name, secret: secret, backoff: backoff, now: clocks.wallMilliseconds)
            },
            then: { [unowned self] result in
                began(name, result, before)
                return []
            })
    }

    private func began(_ name: String, _ result: Result<StoredLaunch?, Failure>, _ before: LaunchBackoff) {
        guard let application = applications[name] else { return }
        guard case .success(let launch?) = result, let current = launch.current else {
            // The launch did not begin: the events of its sessions were read meanwhile, or the store cannot be written
            // for now.
            application.restoreBackoff(before)
            return wake(application, at: runtime.now + Self.pauseMilliseconds)
        }
        application.began(current)
        starter.start(application.stored, current.token) { [unowned self] result in
            started(name, current.token, result)
            if case .success = result { return [.launched(.started)] }
            return [.launched(.failed)]
        }
    }

    private func started(_ name: String, _ token: LaunchToken, _ result: Result<LaunchedProcess, Failure>) {
        guard let application = applications[name], application.stored.current?.token == token else { return }
        switch result {
        case .success(let launched):
            application.started(launched, now: runtime.now)
            if let process = launched.process { watch(process, of: application) }
            settle(application)
        case .failure(let failure): application.cannotStart(failure)
        }
        save(application)
        check(at: name)
    }

    // MARK: Processes

    private func watch(_ process: ProcessIdentity, of application: LaunchedApplication) {
        let name = application.name
        application.processes.watch(process) { [unowned self] in
            guard let application = applications[name] else { return }
            settle(application)
            check(at: name)
        }
    }

    private func settle(_ application: LaunchedApplication) {
        application.settle { clients.all.contains(where: application.owns) }
    }

    // MARK: Listings

    /// Whether the application has or had a launch command.
    func isLaunched(_ name: String) -> Bool { applications[name] != nil }

    /// The state of an application's launches.
    func info(_ launch: StoredLaunch, _ storedFacts: LaunchedApplication.StoredFacts) -> LaunchInfo {
        var info = LaunchInfo(application: launch.application, command: launch.command)
        guard let application = applications[launch.application] else { return info }
        let (state, nextLaunch) = state(application, storedFacts)
        info.state = state
        info.nextLaunchMilliseconds = nextLaunch
        info.launches = application.stored.backoff.launches
        info.errorMessage = application.stored.errorMessage
        if state == .running, let current = application.stored.current {
            info.processID = current.process.map { Int64($0.processID) } ?? 0
            info.startedMilliseconds = current.startedMilliseconds
        }
        return info
    }

    /// Adds two facts to the listings of sessions, because the rows of the sessions do not have these facts. The first
    /// fact is the state of the launch, for sessions that need their host. The second fact is the time since which the
    /// session's consumer (the process that reads the session's events) is stopped.
    func describe(_ sessions: inout [SessionInfo], of name: String, _ storedFacts: LaunchedApplication.StoredFacts) {
        var stoppedSince: [Int64: Int64] = [:]
        for consumer in Set(sessions.map(\.consumer)) where consumer != 0 {
            stoppedSince[consumer] = stopped.check(at: Int32(clamping: consumer), now: runtime.now)?.wall
        }
        let concerned = Set(storedFacts.waiting.map(\.identifier))
        let launch = applications[name].map { state($0, storedFacts) }
        for index in sessions.indices {
            sessions[index].consumerStoppedMilliseconds = stoppedSince[sessions[index].consumer] ?? 0
            guard let launch, concerned.contains(sessions[index].identifier) else { continue }
            sessions[index].launchState = launch.state
            sessions[index].nextLaunchMilliseconds = launch.nextLaunch
        }
    }

    private func state(
        _ application: LaunchedApplication, _ storedFacts: LaunchedApplication.StoredFacts
    ) -> (state: LaunchState, nextLaunch: Int64) {
        let facts = facts(application, storedFacts)
        let (state, nextAt) = LaunchDecision.state(facts)
        return (state, nextAt.map { runtime.clocks.wallMilliseconds + ($0 - facts.now) } ?? 0)
    }
}
