internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The launch of one application: what is known of it, and how it changes. `LaunchController` writes its row after each
/// change.
final class LaunchedApplication {
    /// What is read from the store before each decision.
    struct Seen: Sendable {
        var waiting: [WaitingSession]
        var isOutstanding: Bool
    }

    private(set) var stored: StoredLaunch
    private(set) var run = LaunchDecision.Run.none
    let processes: HostProcesses
    var look = LookState.idle
    /// When to look next, by the boot clock.
    var wakeAt: Int64?
    /// The sessions that were completed had their host launched only because earlier credentials did not serve.
    private var wasInVain = false
    /// No command is registered any more, and a host that was launched before may live.
    private(set) var isRemoved = false

    init(_ stored: StoredLaunch, _ processes: HostProcesses) {
        self.stored = stored
        self.processes = processes
    }

    var name: String { stored.application }
    private var policy: LaunchPolicy { LaunchPolicy(stored.command) }

    var isLiving: Bool { if case .living = run { true } else { false } }
    /// A launched host starts or lives.
    var isUnderWay: Bool { run == .starting || isLiving }

    /// Something is under way that needs no client.
    var isBusy: Bool { !isRemoved && (look != .idle || run != .none || wakeAt != nil) }

    /// The connection is the launched host's, wherever it was started.
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

    /// Counts a launch that begins. Returns the backoff before it.
    func begin(now: Int64) -> LaunchBackoff {
        let before = stored.backoff
        run = .starting
        wasInVain = false
        stored.backoff.launched(now: now, policy)
        return before
    }

    /// The launch is in the store.
    func began(_ current: StoredLaunch.Current) { stored.current = current }

    /// The launch did not begin.
    func takeBack(_ before: LaunchBackoff) {
        forgetRun()
        stored.backoff = before
    }

    func started(_ launched: LaunchedProcess, now: Int64) {
        stored.current?.unit = launched.unit
        if stored.current?.process == nil { stored.current?.process = launched.process }
        lives(now: now)
    }

    func cannotStart(_ failure: Failure) {
        run = .ended
        stored.errorMessage = "the program cannot be launched: \(failure.message)"
    }

    // MARK: Its host

    /// The launched host, or one that it has started, lives.
    func lives(now: Int64) {
        guard !isLiving else { return }
        run = .living(
            .init(hasAttached: stored.current?.hasAttached ?? false, attachBy: now + policy.attachTimeout))
    }

    func ownHostCame(_ process: ProcessIdentity, now: Int64) {
        lives(now: now)
        if stored.current?.process == nil { stored.current?.process = process }
    }

    /// A host has connected of itself.
    func otherHostCame() { stored.backoff.hostCame(whileLaunchedOneLives: isUnderWay) }

    func attached(_ process: ProcessIdentity, now: Int64) {
        lives(now: now)
        changeLiving { $0.hasAttached = true }
        stored.current?.hasAttached = true
        stored.current?.process = process
    }

    /// Returns whether the row has changed.
    func completed(_ completion: LaunchCompletion, hasRead: Bool) -> Bool {
        // Otherwise a host would be launched again and again without a delay: one that completes what it never reads
        // or was not launched for, or whose credentials do not serve.
        if completion.wasRepeated {
            wasInVain = true
            return false
        }
        guard completion.wasLaunched, !completion.isWaiting || hasRead else { return false }
        stored.backoff.succeeded()
        stored.errorMessage = nil
        return true
    }

    /// Notices the end of the launched host: none of its processes lives, and none is connected.
    func settle(isConnected: () -> Bool) {
        processes.dropEnded()
        guard case .living(let living) = run, processes.isEmpty, !isConnected() else { return }
        run = .ended
        guard living.askedAt == nil else { return }
        stored.errorMessage = living.hasAttached
            ? "the launched program ended without completing its sessions"
            : "the launched program ended before it attached a session"
    }

    // MARK: What was decided

    func askedToEnd(now: Int64) {
        changeLiving { $0.askedAt = now }
        stored.errorMessage =
            "the launched program attached no session within \(policy.attachTimeout) ms and was ended"
    }

    func killed() { changeLiving { $0.isKilled = true } }

    func extendAttachTime(now: Int64) {
        let attachBy = now + policy.attachTimeout
        changeLiving { $0.attachBy = attachBy }
    }

    /// Nothing is left of the launch.
    func end() {
        forgetRun()
        stored.current = nil
        if wasInVain {
            stored.errorMessage = "the answers of the launched program to a challenge do not serve"
        } else {
            stored.errorMessage = nil
            stored.backoff.succeeded()
        }
    }

    /// The launched host has ended and is still needed.
    func fail(now: Int64) {
        forgetRun()
        // Its token stays good: a wrapper may have ended before the host that it has started connects.
        stored.current?.process = nil
        stored.backoff.ended(now: now, policy)
    }

    private func forgetRun() {
        run = .none
        processes.removeAll()
    }

    private func changeLiving(_ body: (inout LaunchDecision.Living) -> Void) {
        guard case .living(var living) = run else { return }
        body(&living)
        run = .living(living)
    }

    // MARK: What is known

    func facts(_ seen: Seen, hasHost: Bool, stopped: inout StoppedProcesses, now: Int64) -> LaunchDecision.Facts {
        var waiting: [LaunchCover.Waiting] = []
        for session in seen.waiting {
            let consumer = session.consumer.flatMap { processes.contains($0) ? nil : $0 }
            let since = session.launchIfStoppedMilliseconds > 0
                ? consumer.flatMap { stopped.look(at: $0.processID, now: now) } : nil
            waiting.append(
                .init(
                    hasConsumer: consumer != nil, consumerStoppedAt: since?.boot,
                    launchIfStopped: session.launchIfStoppedMilliseconds))
        }
        let cover = LaunchCover(waiting, hasHost: hasHost, now: now)
        return LaunchDecision.Facts(
            policy: policy, backoff: stored.backoff, run: run, hasLaunch: stored.current != nil,
            isOutstanding: seen.isOutstanding, isNeeded: !waiting.isEmpty, isCovered: cover.isWhole,
            coverEndsAt: cover.endsAt, wasInVain: wasInVain, now: now)
    }
}

extension Transaction {
    func seen(_ application: String) throws(Failure) -> LaunchedApplication.Seen {
        LaunchedApplication.Seen(
            waiting: try launches.waitingSessions(of: application),
            isOutstanding: try launches.hasSessions(of: application))
    }
}
