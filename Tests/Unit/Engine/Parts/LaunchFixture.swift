import BackhaulPlatform

@testable import BackhaulEngine
@testable import BackhaulModel
@testable import BackhaulStore

/// One application with a *launch command*: the program that the engine starts (*launches*) if a session needs its
/// host. The event loop, the store's rows, the programs and the processes are fakes.
final class LaunchFixture {
    typealias StoredFacts = LaunchedApplication.StoredFacts

    static let name = "org.example"

    /// A launched program, with the signals that it got.
    final class FakeProcess: HostProcess {
        let identity: ProcessIdentity
        private let state = Lock<(hasEnded: Bool, signals: [String])>((false, []))

        init(_ number: Int32) { identity = ProcessIdentity(processID: number, startTime: 1, bootID: "boot") }

        var endDescriptor: Int32? { nil }
        var hasEnded: Bool { state.withLock(\.hasEnded) }
        var signals: [String] { state.withLock(\.signals) }
        func terminate() { state.withLock { $0.signals.append("TERM") } }
        func kill() { state.withLock { $0.signals.append("KILL") } }
        func end() { state.withLock { $0.hasEnded = true } }
    }

    final class FakeStarter: HostStarter {
        let runtime: FakeRuntime
        private(set) var started: [FakeProcess] = []
        private(set) var tokens: [LaunchToken] = []
        /// The failure of all following starts, or nil if the starts succeed.
        var failure: Failure?

        init(_ runtime: FakeRuntime) { self.runtime = runtime }

        func start(
            _ launch: StoredLaunch, _ token: LaunchToken,
            then: @escaping (Result<LaunchedProcess, Failure>) -> [EngineEffect]
        ) {
            let process = FakeProcess(1_000 + Int32(started.count))
            started.append(process)
            tokens.append(token)
            let result: Result<LaunchedProcess, Failure> =
                failure.map { .failure($0) } ?? .success(LaunchedProcess(process: process.identity))
            runtime.afterThisIteration { then(result) }
        }

        func terminate(_ processes: [any HostProcess], unit: String?) {
            for process in processes { process.terminate() }
        }
        func kill(_ processes: [any HostProcess]) { for process in processes { process.kill() } }
        func close() {}
    }

    final class Stopped {
        var numbers: Set<Int32> = []
    }

    let runtime = FakeRuntime()
    let clients = ClientRegistry()
    let starter: FakeStarter
    let stopped = Stopped()
    let launches: LaunchController
    let launch: StoredLaunch
    /// The rows of sessions that need their host.
    var waiting: [WaitingSession] = []
    /// Whether the current launch has sessions whose events the host has not yet processed.
    var isOutstanding = false
    /// Whether the store cannot write launches.
    var isFull = false

    init() {
        let (runtime, stopped) = (runtime, stopped)
        let starter = FakeStarter(runtime)
        self.starter = starter
        var command = LaunchCommand(program: "/usr/bin/photos")
        command.maximumLaunches = 3
        launch = StoredLaunch(application: Self.name, command: command)
        launches = LaunchController(
            runtime, clients, starter,
            findProcess: { identity in starter.started.first { $0.identity == identity && !$0.hasEnded } },
            isStopped: { stopped.numbers.contains($0) })
    }

    var started: Int { starter.started.count }
    var process: FakeProcess { starter.started[started - 1] }

    var info: LaunchInfo { launches.info(launch, seen) }

    private var seen: StoredFacts { StoredFacts(waiting: waiting, isOutstanding: isOutstanding) }

    func session(launchIfStopped: UInt32 = 0, consumer: ProcessIdentity? = nil) -> WaitingSession {
        WaitingSession(
            identifier: "photos", launchIfStoppedMilliseconds: launchIfStopped, consumer: consumer, isLaunched: false)
    }

    /// Restores the launch command, adds a session that needs its host, and advances the time by a second.
    func begin() throws {
        launches.restore([launch])
        waiting = [session()]
        try advance(milliseconds: 1_000)
    }

    /// Returns the results of all pending calls to the store.
    func replyFromStore() throws {
        repeat {
            while runtime.pendingStoreCalls > 0 {
                if runtime.storeAwaits(StoredFacts.self) {
                    try runtime.storeReturns(seen)
                } else if runtime.storeAwaits(StoredLaunch?.self) {
                    try replyToLaunch()
                } else {
                    try runtime.storeReturns(())
                }
            }
            runtime.endIteration()
        } while runtime.pendingStoreCalls > 0
    }

    private func replyToLaunch() throws {
        guard !isFull else {
            return try runtime.storeReturns(Result<StoredLaunch?, Failure>.failure(Failure(.storeFull, "no space")))
        }
        var begun = launch
        let token = LaunchToken(id: LaunchID(rawValue: UInt64(started + 1)), secret: 7)
        begun.current = .init(token: token, startedMilliseconds: 1)
        isOutstanding = true
        try runtime.storeReturns(begun as StoredLaunch?)
    }

    func advance(milliseconds: Int64) throws {
        let end = runtime.now + milliseconds
        try replyFromStore()
        while runtime.now < end {
            runtime.advance(milliseconds: min(500, end - runtime.now))
            try replyFromStore()
        }
    }

    /// Connects a host. If `isLaunched` is true, connects the host of the last launch.
    func connect(_ number: Int32 = 1, isLaunched: Bool = false, isObserver: Bool = false) throws -> FakeClient {
        let client = FakeClient(
            clients, process: isLaunched ? process.identity.processID : number, isObserver: isObserver,
            launch: isLaunched ? starter.tokens.last : nil)
        launches.hostConnected(client.connection)
        try replyFromStore()
        return client
    }

    func disconnect(_ client: FakeClient) throws {
        guard let connection = clients.remove(client.id) else { return }
        launches.hostDisconnected(connection)
        try replyFromStore()
    }

    /// Attaches the launched host to the session for which it was launched.
    func attach(_ client: FakeClient) throws {
        guard let hello = client.connection.hello, let process = client.connection.process else { return }
        launches.attached(
            Self.name,
            ConsumerIdentity(
                client: hello.client, handle: HandleID(rawValue: 1), process: process, launch: hello.launch))
        try replyFromStore()
    }

    /// Completes the host's session: the host states that it has processed the session's events. Afterwards, the
    /// session needs its host only if `isWaiting` is true. If `isRepeated` is true, the launch was a repetition: its
    /// only reason was that the server had rejected the host's credentials.
    func complete(isRepeated: Bool = false, isWaiting: Bool = false) throws {
        isOutstanding = false
        if !isWaiting { waiting = [] }
        launches.completed(
            in: Self.name, .init(wasLaunched: true, wasRepeated: isRepeated, isWaiting: isWaiting), hasRead: true)
        try replyFromStore()
    }
}
