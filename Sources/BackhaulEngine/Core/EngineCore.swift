internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// Everything that lives on the engine's loop thread and never leaves it.
final class EngineCore {
    let loop: Loop
    let services: Services
    let transport: Transport
    var connections: [ConnectionID: ClientConnection] = [:]
    var sessions: [SessionID: SessionConfiguration] = [:]
    var schedule = Schedule<LaneID, SessionID, TaskID>()
    /// Loaded from the store ahead of their turn.
    var ready: [TaskID: StoredTask] = [:]
    var lanes: [LaneID: Lane] = [:]
    static let fewLanes = 256
    /// With more of them it is looked which are of no use any more.
    var lanesWorthALook = fewLanes
    var runners: [TaskID: TaskRunner] = [:]
    /// Answers to challenges live here alone, and go with the engine.
    var credentials: [SessionID: SessionCredentials] = [:]
    /// How often in a row a task was sent again because another answer was there.
    var credentialRepeats: [TaskID: CredentialRepeats] = [:]
    /// How often in a row a task was sent again at once.
    var immediateRepeats: [TaskID: UInt32] = [:]
    var unconnected = Unconnected()
    var deferral = Deferral()
    var lastLookForOverdue: Int64 = 0
    var directoryAliases = DirectoryAliases()
    /// What tasks missed that found their file system full.
    var neededSpace: [TaskID: UInt64] = [:]
    static let neededSpaceLimit = 4_096
    /// Missed by one whose file's size nobody has told.
    static let unknownSpace: UInt64 = 1 << 20
    /// Their waiting tasks could not be written down when they were to wait for a challenge.
    var lanesToReload: Set<LaneID> = []
    var cookies: [SessionID: SessionCookies] = [:]
    /// Since they were last saved.
    var changedCookies: Set<SessionID> = []
    var cookieTimer: LoopTimer?
    var server: SocketServer?
    private let ended: @Sendable (EngineEnd) -> Void
    private var hasEnded = false
    /// Tells this store's part files from those of others.
    private(set) var tag = ""
    static let bytesToWriteLimit = 24 << 20
    /// Running and finishing downloads together.
    static let runnerLimit = 1_024
    /// Handed to the disk threads and not yet written.
    var bytesToWrite = 0 {
        didSet { if oldValue > Self.bytesToWriteLimit, !diskIsBehind { planPump() } }
    }
    private(set) var kept: Destination
    private let bodies: Destination
    /// Unlike that of any engine before.
    let bodyPrefix = String(UInt64.random(in: .min ... .max), radix: 16) + "-"
    var lastBody: UInt64 = 0
    var isSweepingBodies = false {
        didSet { if oldValue, !isSweepingBodies { considerLeaving() } }
    }
    var bodyReturns = BodyReturns() {
        didSet { if oldValue.isRunning, !bodyReturns.isRunning { considerLeaving() } }
    }
    var isSweeping = false {
        didSet { if oldValue, !isSweeping { considerLeaving() } }
    }
    private(set) var failure: Failure?
    var hasFailed: Bool { failure != nil }
    private(set) var isLeaving = false
    var whenLeft: (() -> Void)?
    var ticker: LoopTimer?
    var tickerRuns = false
    var dueTimer: LoopTimer?
    var leaveTimer: LoopTimer?
    /// Until then clients of an earlier engine have time to come back.
    var returnTimer: LoopTimer?
    var storeRetryTimer: LoopTimer?
    /// What the store could not do for now.
    var storeRetries: [(EngineCore) -> Void] = []
    var restTimer: LoopTimer?
    /// Since the rest timer was started.
    var hasWorked = false
    /// How often memory was given back since there was something to do.
    var restStage = 0
    var storeWatch: Watch?
    var nextDue: Int64?
    var pumpIsPlanned = false
    var queues: [NamedSession: ConsumerQueue] = [:]
    var holderTimer: LoopTimer?
    private let startedMilliseconds = Clock.wallMilliseconds
    private(set) lazy var launches = Launches(core: self)
    /// What the calendar of the rows' times is ahead of the boot clock.
    var calendarOffset: Int64 = 0
    var calendarMoves = false
    /// Those of this turn.
    var endings: [SessionID: [Ending]] = [:]
    /// The newest events of this turn.
    var unannounced: [SessionID: Announcement] = [:]
    var progressWatches: [HandleAddress: ProgressWatch] = [:]
    var progressTimer: LoopTimer?
    /// Who receives the events of each session.
    var consumers: [SessionID: HandleAddress] = [:]
    var activities = Activities()
    var networkUsage = NetworkUsage()
    var lastAttempt: UInt64 = 0
    var rates = Rates()
    var rateTimer: LoopTimer?
    lazy var flushTimer = FlushTimer(loop)
    var ratesArePlanned = false

    init(loop: Loop, services: Services, ended: @escaping @Sendable (EngineEnd) -> Void) throws(Failure) {
        self.loop = loop
        self.services = services
        self.ended = ended
        try services.directory.makeFolders()
        bodies = try DestinationCheck.check(path: services.directory.bodyFile(named: "0"), ifExists: .replace)
        kept = try DestinationCheck.check(path: services.directory.keptPath + "/0", ifExists: .replace)
        transport = try Transport(loop: loop)
    }

    // MARK: Life

    func begin() {
        ticker = loop.timer { [unowned self] in tick() }
        dueTimer = loop.timer { [unowned self] in releaseDue() }
        leaveTimer = loop.timer { [unowned self] in leaveIfNothingIsLeft() }
        progressTimer = loop.timer { [unowned self] in sendProgress() }
        holderTimer = loop.timer { [unowned self] in lookForHolders() }
        restTimer = loop.timer { [unowned self] in rest() }
        rateTimer = loop.timer { [unowned self] in releaseRates() }
        watchStore()
        loop.whenClockJumps { [unowned self] in clockWasSet() }
        do {
            server = try SocketServer(directory: services.directory, loop: loop, core: self)
        } catch {
            fail(error)
            return
        }
        let clock = EngineCore.readClock()
        beginCalendar(clock)
        store({ (transaction) throws(Failure) in
            try transaction.adopt(clock)
            try transaction.releaseDeadConsumers()
            _ = try transaction.releaseUnconnected()
            try transaction.rescheduleParked(bootMilliseconds: clock.boot, now: clock.wall)
            return Opening(
                tag: try transaction.storeTag(), hasClients: try !transaction.clients().isEmpty,
                sessions: try transaction.activeSessions(),
                lanes: try transaction.lanesWithWaitingTasks(), sealed: try transaction.tasksWithIntent(),
                challenges: try transaction.openChallenges(), kept: try transaction.keptAnswers(),
                nextDue: try transaction.nextDue(),
                latestStart: try transaction.nextLatestStart(), waits: try transaction.openWaits(),
                launches: try transaction.launches(), limits: try transaction.limits(),
                networks: (try transaction.networks(), try transaction.usage()))
        }, then: { core, result in
            switch result {
            case .success(let opening): core.opened(opening)
            case .failure(let failure): core.fail(failure)
            }
        })
    }

    private struct Opening: Sendable {
        var tag: String
        var hasClients: Bool
        var sessions: [(id: SessionID, application: String, configuration: SessionConfiguration)]
        var lanes: [Lane]
        var sealed: [StoredTask]
        var challenges: [(session: SessionID, challenge: Challenge)]
        var kept: [(session: SessionID, answer: KeptAnswer)]
        var nextDue: Int64?
        var latestStart: Int64?
        var waits: [OpenWait]
        var launches: [StoredLaunch]
        var limits: EngineLimits
        var networks: (said: [NetworkSettings], used: [ByteUsage.Entry])
    }

    private func opened(_ opening: Opening) {
        tag = opening.tag
        if opening.hasClients { expectClients() }
        limits(opening.limits)
        opened(opening.networks.said, opening.networks.used)
        for session in opening.sessions { remember(session.configuration, of: session.id) }
        inherit(opening.waits)
        learn(opening.kept)
        learn(opening.challenges)
        // Sealed before a crash: they only need their name, and take nobody's turn.
        for task in opening.sealed where runners[task.id] == nil { run(task, holdsTurn: false) }
        for lane in opening.lanes { add(lane, reload: false) }
        due(at: opening.nextDue)
        latestStart(at: opening.latestStart)
        pump()
        sweepLeftovers()
        sweepBodiesAtStart()
        launches.opened(opening.launches)
        lookAtActivities()
        considerLeaving()
        noteWork()
    }

    /// The engine cannot go on. Clients are told; whoever holds it stops it.
    func fail(_ failure: Failure) {
        guard !hasFailed else { return }
        self.failure = failure
        let told = connections.values
        connections = [:]
        for connection in told { connection.deliver(.goodbye(failure)) }
        // Afterwards: with the server go the sockets.
        server?.close()
        end(.failed(failure))
    }

    /// Asks whoever holds this engine to stop it.
    func end(_ reason: EngineEnd) {
        guard !hasEnded else { return }
        hasEnded = true
        ended(reason)
    }

    /// Lets every download write and sync what it has, then calls `whenLeft`.
    func leaveAll(_ whenLeft: @escaping () -> Void) {
        isLeaving = true
        self.whenLeft = whenLeft
        saveCookies()
        saveUsage()
        for runner in Array(runners.values) { runner.take(.leave) }
        leaveIfDone()
    }

    func leaveIfDone() {
        guard isLeaving, runners.values.allSatisfy(\.isFinishing) else { return }
        whenLeft?()
        whenLeft = nil
    }

    func close() {
        server?.close()
        transport.close()
        for connection in connections.values { connection.deliver(.goodbye(nil)) }
        connections = [:]
        runners = [:]
        ticker?.stop()
        dueTimer?.stop()
        leaveTimer?.stop()
        returnTimer?.stop()
        storeRetryTimer?.stop()
        holderTimer?.stop()
        progressTimer?.stop()
        restTimer?.stop()
        rateTimer?.stop()
        activities.timer?.stop()
        networkUsage.timer?.stop()
        cookieTimer?.stop()
        storeWatch?.cancel()
        stopWaitingForWays()
        closeConditions()
        launches.close()
        services.outbox.close()
    }

    var information: EngineInfo {
        EngineInfo(
            processID: ProcessIdentity.current.processID, version: Versions.current.library,
            isDaemon: services.options.isDaemon, startedMilliseconds: startedMilliseconds,
            connections: UInt32(clamping: connections.values.count { $0.hello != nil }))
    }

    /// Device and inode of the store's own directories.
    var storeFolders: [(UInt64, UInt64)] {
        let store = services.directory.descriptor.identity
        return [(store.device, store.inode)] + [kept, bodies].map { ($0.directoryDevice, $0.directoryInode) }
    }

    // MARK: The store

    /// Runs `body` in the next transaction and `then` here, once its effect is durable.
    func store<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Result,
        then: @escaping @Sendable (EngineCore, Swift.Result<Result, Failure>) -> Void
    ) {
        services.store.perform(body) { [outbox = services.outbox] result in
            outbox.post { core in
                then(core, result)
                // Damage, or a descriptor that is gone: whatever is asked of the store from now on fails the same way.
                if case .failure(let failure) = result, failure.endsStore { core.fail(failure) }
            }
        }
    }
}
