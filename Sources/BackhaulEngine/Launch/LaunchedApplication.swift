internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The state of an application's launch, and its changes. In a launch, the engine starts the application's program (the
/// host) because sessions of the application need it. `LaunchController` writes the launch's row after each change.
final class LaunchedApplication {
    /// The facts that are read from the store before each decision.
    struct StoredFacts: Sendable {
        static let empty = StoredFacts(waiting: [], isOutstanding: false)

        var waiting: [WaitingSession]
        var isOutstanding: Bool
    }

    private(set) var stored: StoredLaunch
    private(set) var run = LaunchDecision.Run.none
    let processes: HostProcesses
    var check = CheckState.idle
    /// The time of the next check, by the boot clock.
    var wakeAt: Int64?
    /// Whether the host has completed a session that needed the host only for a new credential. A server had rejected
    /// the host's earlier credential. To complete a session is to state that all its events are processed.
    private var onlyRepeatedChallenges = false
    /// Whether the launch command (the command with which the engine starts the program) was removed. A host that was
    /// launched before the removal may still live.
    private(set) var isRemoved = false

    init(_ stored: StoredLaunch, _ processes: HostProcesses) {
        self.stored = stored
        self.processes = processes
    }

    var name: String { stored.application }
    private var policy: LaunchPolicy { LaunchPolicy(stored.command) }

    var isHostRunning: Bool { if case .living = run { true } else { false } }
    /// Whether a launched host is starting or living.
    var isUnderWay: Bool { run == .starting || isHostRunning }

    /// Whether the engine has work for this application, such as a check, even if no client is connected.
    var isBusy: Bool { !isRemoved && (check != .idle || run != .none || wakeAt != nil) }

    /// Whether the connection belongs to the launched host. The first message of such a connection (hello) contains the
    /// secret token of the launch.
    func owns(_ connection: ClientConnection) -> Bool {
        guard let hello = connection.hello, hello.application == name, !hello.isObserver else { return false }
        return hello.launch != nil && hello.launch == stored.current?.token
    }

    // MARK: The command

    func register(_ launch: StoredLaunch) {
        isRemoved = false
        stored.command = launch.command
        stored.backoff = launch.backoff
        stored.errorMessage = launch.errorMessage
    }

    func remove() { isRemoved = true }

    // MARK: A launch

    /// Notes that a launch begins, and counts the launch. Returns the former backoff (the count and the delay that it
    /// causes).
    func begin(now: Int64) -> LaunchBackoff {
        let before = stored.backoff
        run = .starting
        onlyRepeatedChallenges = false
        stored.backoff.launched(now: now, policy)
        return before
    }

    /// Notes that the launch is in the store.
    func began(_ current: StoredLaunch.Current) { stored.current = current }

    /// Restores the backoff, because the launch did not begin.
    func restoreBackoff(_ before: LaunchBackoff) {
        forgetRun()
        stored.backoff = before
    }

    func started(_ launched: LaunchedProcess, now: Int64) {
        stored.current?.unit = launched.unit
        if stored.current?.process == nil { stored.current?.process = launched.process }
        confirmRunning(now: now)
    }

    func cannotStart(_ failure: Failure) {
        run = .ended
        stored.errorMessage = "the program cannot be launched: \(failure.message)"
    }

    // MARK: The launched host

    /// Notes that the launched host, or a process that it has started, lives.
    func confirmRunning(now: Int64) {
        guard !isHostRunning else { return }
        run = .living(
            .init(hasAttached: stored.current?.hasAttached ?? false, attachBy: now + policy.attachTimeout))
    }

    func launchedHostConnected(_ process: ProcessIdentity, now: Int64) {
        confirmRunning(now: now)
        if stored.current?.process == nil { stored.current?.process = process }
    }

    /// Notes that a host of the application has connected. The engine did not launch this host.
    func otherHostConnected() { stored.backoff.hostConnected(whileLaunchedHostRuns: isUnderWay) }

    func attached(_ process: ProcessIdentity, now: Int64) {
        confirmRunning(now: now)
        updateRunning { $0.hasAttached = true }
        stored.current?.hasAttached = true
        stored.current?.process = process
    }

    /// Notes a completed session: the host has stated that it has processed the session's events. Returns whether the
    /// row has changed.
    func completed(_ completion: LaunchCompletion, hasRead: Bool) -> Bool {
        // The backoff ends only if the host did its work. A host may instead complete sessions without reading their
        // events, complete only sessions that are not in the launch, or give credentials that servers reject. The
        // engine must launch such a host again only after a delay.
        if completion.wasRepeated {
            onlyRepeatedChallenges = true
            return false
        }
        guard completion.wasLaunched, !completion.isWaiting || hasRead else { return false }
        stored.backoff.succeeded()
        stored.errorMessage = nil
        return true
    }

    /// Notes the end of the launched host, if none of its processes lives or is connected.
    func settle(isConnected: () -> Bool) {
        processes.dropEnded()
        guard case .living(let living) = run, processes.isEmpty, !isConnected() else { return }
        run = .ended
        guard living.terminatedAt == nil else { return }
        stored.errorMessage =
            living.hasAttached
            ? "the launched program ended without completing its sessions"
            : "the launched program ended before it attached a session"
    }

    // MARK: Decisions

    func terminationRequested(now: Int64) {
        updateRunning { $0.terminatedAt = now }
        stored.errorMessage =
            "the launched program attached no session within \(policy.attachTimeout) ms and was ended"
    }

    func killed() { updateRunning { $0.isKilled = true } }

    func extendAttachTime(now: Int64) {
        let attachBy = now + policy.attachTimeout
        updateRunning { $0.attachBy = attachBy }
    }

    /// Gives the launched host the whole time again to attach a session, or to end.
    func restartTimes(now: Int64) {
        extendAttachTime(now: now)
        updateRunning { if $0.terminatedAt != nil { $0.terminatedAt = now } }
    }

    /// Removes the launch, which is over.
    func end() {
        forgetRun()
        stored.current = nil
        if onlyRepeatedChallenges {
            stored.errorMessage = "the server rejects the credentials of the launched program"
        } else {
            stored.errorMessage = nil
            stored.backoff.succeeded()
        }
    }

    /// Ends a failed launch: the launched host has ended, and the application still needs a host.
    func fail(now: Int64) {
        forgetRun()
        // The token stays valid: a wrapper program may start the host, and end before the host connects.
        stored.current?.process = nil
        stored.backoff.ended(now: now, policy)
    }

    private func forgetRun() {
        run = .none
        processes.removeAll()
    }

    private func updateRunning(_ body: (inout LaunchDecision.Living) -> Void) {
        guard case .living(var living) = run else { return }
        body(&living)
        run = .living(living)
    }

    // MARK: Facts

    func facts(
        _ storedFacts: StoredFacts, hasHost: Bool, stopped: inout StoppedProcesses, now: Int64
    ) -> LaunchDecision.Facts {
        var waiting: [LaunchCoverage.Waiting] = []
        for session in storedFacts.waiting {
            let consumer = session.consumer.flatMap { processes.contains($0) ? nil : $0 }
            let since =
                session.launchIfStoppedMilliseconds > 0
                ? consumer.flatMap { stopped.check(at: $0.processID, now: now) } : nil
            waiting.append(
                .init(
                    hasConsumer: consumer != nil, consumerStoppedAt: since?.boot,
                    launchIfStopped: session.launchIfStoppedMilliseconds))
        }
        let cover = LaunchCoverage(waiting, hasHost: hasHost, now: now)
        return LaunchDecision.Facts(
            policy: policy, backoff: stored.backoff, run: run, hasLaunch: stored.current != nil,
            isOutstanding: storedFacts.isOutstanding, isNeeded: !waiting.isEmpty, isCovered: cover.isWhole,
            coverEndsAt: cover.endsAt, onlyRepeatedChallenges: onlyRepeatedChallenges, now: now)
    }
}

extension Transaction {
    func storedFacts(_ application: String) throws(Failure) -> LaunchedApplication.StoredFacts {
        LaunchedApplication.StoredFacts(
            waiting: try launches.waitingSessions(of: application),
            isOutstanding: try launches.hasSessions(of: application))
    }
}
