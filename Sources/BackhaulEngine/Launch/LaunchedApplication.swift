internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// An application with a launch command, as the engine's loop knows it. Its row is written after each change.
final class LaunchedApplication {
    /// What is looked up in the store before each decision.
    struct Seen: Sendable {
        var waiting: [WaitingSession]
        var isOutstanding: Bool
    }

    var stored: StoredLaunch
    private(set) var run = LaunchDecision.Run.none
    private var processes: [ProcessIdentity: Watched] = [:]
    /// The store is being asked.
    var isLooking = false
    /// Something has changed since it was asked.
    var looksAgain = false
    var wakeAt: Int64?
    /// What was completed of the launch was there only because earlier answers had not served.
    var wasInVain = false
    /// No command is registered any more, and a host that was launched before lives.
    var isRemoved = false

    private struct Watched {
        var process: WatchedProcess
        /// Nil where there is no pidfd: then it is looked at from time to time.
        var watch: Watch?
    }

    init(_ stored: StoredLaunch) { self.stored = stored }

    var name: String { stored.application }
    var policy: LaunchPolicy { LaunchPolicy(stored.command) }

    var isLiving: Bool { if case .living = run { true } else { false } }
    /// A launched host starts or lives.
    var isUnderWay: Bool { run == .starting || isLiving }

    /// Something is under way that needs no client.
    var isBusy: Bool { !isRemoved && (isLooking || run != .none || wakeAt != nil) }

    /// The launched host's, wherever it was started.
    func owns(_ connection: ClientConnection) -> Bool {
        guard let hello = connection.hello, hello.application == name, !hello.isObserver else { return false }
        return hello.launch != nil && hello.launch == stored.current?.token
    }

    func owns(_ process: ProcessIdentity) -> Bool { processes[process] != nil }

    var watched: [WatchedProcess] { processes.values.map(\.process) }
    var needsPolling: Bool { processes.values.contains { $0.watch == nil } }

    // MARK: The launched host

    func starts() {
        run = .starting
        wasInVain = false
    }

    func isGone() { run = .ended }

    func isForgotten() {
        run = .none
        processes = [:]
    }

    func lives(now: Int64) {
        guard !isLiving else { return }
        run = .living(
            .init(hasAttached: stored.current?.hasAttached ?? false, attachBy: now + policy.attachTimeout))
    }

    func change(_ body: (inout LaunchDecision.Living) -> Void) {
        guard case .living(var living) = run else { return }
        body(&living)
        run = .living(living)
    }

    /// False when it has ended already.
    func watch(_ identity: ProcessIdentity, on loop: Loop, ended: @escaping () -> Void) -> Bool {
        if processes[identity] != nil { return true }
        guard let process = WatchedProcess(identity) else { return false }
        let watch = process.descriptor.flatMap { try? loop.watch($0.number, .readable) { _ in ended() } }
        processes[identity] = Watched(process: process, watch: watch)
        return true
    }

    func dropEndedProcesses() {
        for (identity, watched) in processes where watched.process.hasEnded { processes[identity] = nil }
    }

    var hasProcesses: Bool { !processes.isEmpty }

    // MARK: What is known

    func facts(_ seen: Seen, hasHost: Bool, stopped: inout StoppedProcesses, now: Int64) -> LaunchDecision.Facts {
        var waiting: [LaunchCover.Waiting] = []
        for session in seen.waiting {
            let consumer = session.consumer.flatMap { owns($0) ? nil : $0 }
            let since = session.launchIfStoppedMilliseconds > 0
                ? consumer.flatMap { stopped.look(at: $0.processID) } : nil
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
            waiting: try waitingSessions(of: application), isOutstanding: try hasLaunchedSessions(application))
    }
}
