import BackhaulModel
import TestSupport

/// Generates values of the module BackhaulModel from a seed. The same seed repeats a failure. Extreme numbers are
/// frequent.
struct Generator: RandomNumberGenerator {
    private var numbers: SeededGenerator
    /// The number of picks so far, if `filling` made the generator. If nil, the generator picks at random, and optional
    /// values can be absent.
    private var picks: Int?

    init(seed: UInt64) { numbers = SeededGenerator(seed: seed) }

    /// Returns a generator that makes the same values on every run and machine. Each optional is present, each flag is
    /// set, each list has five elements, and successive picks go through the alternatives in order.
    static func filling() -> Generator {
        var generator = Generator(seed: 1)
        generator.picks = 0
        return generator
    }

    mutating func next() -> UInt64 { numbers.next() }

    mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) -> Integer {
        if picks != nil { return Integer(truncatingIfNeeded: next()) }
        return switch pick(4) {
        case 0: 0
        case 1: .max
        case 2: .min
        default: .random(in: .min ... .max, using: &self)
        }
    }

    /// Returns a number from 0 to `count` - 1.
    mutating func pick(_ count: Int) -> Int {
        guard let picks else { return Int.random(in: 0..<count, using: &self) }
        self.picks = picks + 1
        return picks % count
    }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[pick(values.count)] }

    mutating func bool() -> Bool { picks != nil || .random(using: &self) }

    mutating func text() -> String {
        if picks != nil { return "text \(next() % 1_000)" }
        let pieces = ["", "a", "https://example.org/", "ü", "日本", "\u{0}", "🎒", "\r\n", " "]
        return (0..<pick(6)).map { _ in pick(pieces) }.joined()
    }

    mutating func data() -> [UInt8] { (0..<(picks == nil ? pick(20) : 3)).map { _ in integer() } }

    mutating func optional<Value>(_ make: (inout Generator) -> Value) -> Value? { bool() ? make(&self) : nil }

    mutating func list<Value>(_ make: (inout Generator) -> Value) -> [Value] {
        (0..<(picks == nil ? pick(4) : 5)).map { _ in make(&self) }
    }

    mutating func any<Value: CaseIterable>(_ type: Value.Type = Value.self) -> Value { pick(Array(type.allCases)) }

    mutating func id<Value: RawRepresentable>(
        _ type: Value.Type = Value.self
    ) -> Value where Value.RawValue == UInt64 { Value(rawValue: integer())! }
}

extension Generator {
    mutating func welcome() -> Welcome {
        let versions = Versions(wire: integer(), library: integer())
        return Welcome(versions: versions, isDaemon: bool(), process: integer())
    }

    mutating func failure() -> Failure {
        Failure(any(), text(), domain: any(), detail: integer(), index: optional { $0.integer() })
    }

    mutating func header() -> HeaderField { HeaderField(text(), text()) }

    mutating func destination() -> Destination {
        Destination(path: text(), directoryDevice: integer(), directoryInode: integer(), fileExists: bool())
    }

    mutating func request() -> Request {
        var request = Request(url: text())
        request.destination = optional { $0.destination() }
        request.idempotencyKey = optional { $0.text() }
        request.headers = list { $0.header() }
        request.userData = optional { $0.data() }
        request.ifExists = any()
        request.priority = integer()
        request.startsSuspended = bool()
        request.mode = FileMode(rawValue: integer())
        if bool() { request.options = options() }
        return request
    }

    mutating func configuration() -> SessionConfiguration {
        var configuration = SessionConfiguration(identifier: text())
        configuration.visitFields(with: &self)
        return configuration
    }

    mutating func session() -> SessionInfo {
        var session = SessionInfo(
            identifier: text(), round: integer(), liveTasks: integer(), events: integer(), hasFinishedRound: bool(),
            isInvalidating: bool(), consumer: integer(), createdMilliseconds: integer(), newestEvent: id())
        session.openChallenges = integer()
        session.hasActivity = bool()
        session.consumerStoppedMilliseconds = integer()
        session.waitingConsumers = integer()
        session.launchState = any()
        session.nextLaunchMilliseconds = integer()
        return session
    }

    mutating func launchCommand() -> LaunchCommand {
        var command = LaunchCommand(program: text())
        command.arguments = list { $0.text() }
        command.environment = list { $0.text() }
        command.workingDirectory = optional { $0.text() }
        command.attachTimeoutMilliseconds = integer()
        command.firstDelayMilliseconds = integer()
        command.longestDelayMilliseconds = integer()
        command.maximumLaunches = integer()
        return command
    }

    mutating func launch() -> LaunchInfo {
        var launch = LaunchInfo(application: text(), command: launchCommand())
        launch.state = any()
        launch.launches = integer()
        launch.nextLaunchMilliseconds = integer()
        launch.processID = integer()
        launch.startedMilliseconds = integer()
        launch.errorMessage = optional { $0.text() }
        return launch
    }

    mutating func application() -> ApplicationInfo {
        var info = ApplicationInfo(identifier: text())
        info.sessions = integer()
        info.liveTasks = integer()
        info.runningTasks = integer()
        info.events = integer()
        info.hosts = integer()
        info.hasLaunchCommand = bool()
        return info
    }

    mutating func engine() -> EngineInfo {
        EngineInfo(
            processID: integer(), version: integer(), isDaemon: bool(), startedMilliseconds: integer(),
            connections: integer())
    }

    mutating func challenge() -> Challenge {
        Challenge(
            id: id(),
            space: ProtectionSpace(
                kind: any(), origin: text(), realm: optional { $0.text() }, task: optional { $0.id() }),
            schemes: AuthenticationSchemes(rawValue: integer()), failures: integer(), timeMilliseconds: integer(),
            waitingTasks: integer(), url: optional { $0.text() })
    }

    mutating func responses() -> [ChallengeResponse] {
        [
            .refuse, .credential(user: text(), password: text()), .headers(list { $0.header() }), .standard,
            .url(text()),
        ]
    }

    mutating func progress() -> Progress {
        Progress(
            task: id(), state: any(), reason: any(), offset: integer(), size: optional { $0.integer() },
            bytesPerSecond: integer(), bodySent: integer(), bodySize: integer())
    }

    mutating func selection() -> TaskSelection {
        TaskSelection(
            ids: list { $0.id() }, states: TaskStates(rawValue: integer()), group: optional { $0.text() })
    }

    mutating func startChange() -> StartChange {
        switch pick(3) {
        case 0: .unchanged
        case 1: .to(nil)
        default: .to(Int64(next() % UInt64(Limits.time)) + 1)
        }
    }

    mutating func task() -> TaskInfo {
        var task = TaskInfo(
            id: id(), round: integer(), state: any(), reason: any(), reasonText: optional { $0.text() },
            nextAttemptMilliseconds: integer(), url: text(), destinationPath: optional { $0.text() },
            idempotencyKey: optional { $0.text() }, userData: optional { $0.data() }, priority: integer(),
            failure: optional { $0.failure() }, httpStatus: integer(), attempts: integer(), offset: integer(),
            size: optional { $0.integer() }, bytesPerSecond: integer(), enqueuedMilliseconds: integer())
        task.kind = any()
        task.group = optional { $0.text() }
        task.bodySent = integer()
        task.bodySize = integer()
        task.endedMilliseconds = integer()
        task.path = optional { $0.text() }
        task.earliestStartMilliseconds = optional { $0.integer() }
        task.latestStartMilliseconds = optional { $0.integer() }
        task.expectedBytesReceived = optional { $0.integer() }
        task.expectedBytesSent = optional { $0.integer() }
        task.constraints = optional { Boxed($0.constraints()) }
        task.rateLimit = optional { $0.integer() }
        return task
    }

    mutating func event() -> Event {
        let kind: Event.Kind =
            switch pick(5) {
            case 0: .sessionFinished
            case 3: .activity(text())
            case 2:
                .groupFinished(
                    FinishedGroup(name: text(), succeeded: integer(), failed: integer(), cancelled: integer()))
            case 1: .challenge(optional { $0.challenge() })
            default: .taskEnded(endedTask())
            }
        return Event(id: id(), round: integer(), timeMilliseconds: integer(), kind: kind)
    }

    mutating func endedTask() -> EndedTask {
        var outcome = Outcome(
            state: any(), failure: optional { $0.failure() }, path: optional { $0.text() })
        outcome.size = integer()
        outcome.attempts = integer()
        outcome.bytesReceived = integer()
        outcome.bytesSent = integer()
        outcome.checksum = optional { $0.checksum() }
        outcome.response.httpStatus = integer()
        outcome.response.finalURL = optional { $0.text() }
        outcome.response.mediaType = optional { $0.text() }
        outcome.response.headers = list { $0.header() }
        outcome.response.errorBody = optional { $0.data() }
        outcome.response.responseBody = optional { $0.data() }
        return EndedTask(
            id: id(), url: text(), idempotencyKey: optional { $0.text() }, userData: optional { $0.data() },
            outcome: outcome, kind: any(), group: optional { $0.text() })
    }
}

extension Generator {
    /// Returns at least one command of each case.
    mutating func commands() -> [Command] {
        [
            .createSession(configuration(), any(), id(), waits: bool()),
            .attachSession(identifier: text(), any(), id(), waits: bool()), .stopWaiting(id()), .engine,
            .setLaunch(optional { $0.launchCommand() }), .launches, .currentLaunch, .challenges(id()),
            .attempts(id(), id()), .attemptsOfTasks(id(), list { $0.id() }), .waitsOfTasks(id(), list { $0.id() }),
            .history(id(), after: id(), maximum: integer()), .setLimits(limits()), .limits,
            .waits(id(), id()), .conditions, .holds, .setNetwork(networkSettings()), .networks, .metrics, .applications,
            .setActivity(id(), activity()), .removeActivity(id(), identifier: text()), .activities(id()),
            .control(id(), .setRate(optional { $0.integer() }), selection()),
            .control(id(), .setConstraints(constraints()), selection()), .control(id(), .setAside, selection()),
            .control(id(), .reschedule(Rescheduling(earliest: startChange(), latest: startChange())), selection()),
            .watchProgress(id(), intervalMilliseconds: integer()),
            .closeSession(id()), .configuration(id()), .updateConfiguration(id(), configuration()),
            .enqueue(id(), list { $0.request() }), .poll(id(), after: id(), maximum: integer()),
            .acknowledge(id(), .ids(list { $0.id() })), .acknowledge(id(), .through(id())),
            .complete(id(), deliveredThrough: id()), .tasks(id(), selection(), after: id(), maximum: integer()),
            .control(id(), .cancel, selection()), .control(id(), .suspend, selection()),
            .control(id(), .resume, selection()), .control(id(), .setPriority(integer()), selection()),
            .claim(id(), id(), destination(), any()), .invalidate(id(), cancelTasks: bool()),
            .sessions(after: "text"),
        ]
            + responses().map {
                .respond(
                    id(), id(), $0, CredentialLifetime(expiresMilliseconds: optional { $0.integer() }, isKept: bool()))
            }
    }

    private mutating func enqueued() -> Enqueued {
        var enqueued = Enqueued(task: id(), disposition: any())
        if enqueued.disposition == .existing { (enqueued.state, enqueued.end) = (any(), id()) }
        return enqueued
    }

    mutating func replies() -> [Reply] {
        [
            .failed(failure()), .done, .count(integer()),
            .session(id(), isNew: bool(), newestEvent: id(), unacknowledged: integer()),
            .configuration(configuration()),
            .enqueued(list { $0.enqueued() }),
            .events(list { $0.event() }, more: bool()), .tasks(list { $0.task() }, more: bool()),
            .sessions(list { $0.session() }, more: bool()), .completed(endsHandle: bool()), .engine(engine()),
            .launches(list { $0.launch() }),
            .currentLaunch(
                optional { CurrentLaunch(id: $0.id(), launches: $0.integer(), sessions: $0.list { $0.session() }) }),
            .challenges(list { $0.challenge() }), .attempts(list { $0.attempt() }, more: bool()),
            .limits(limits()),
            .waits(list { $0.wait() }, more: bool()), .conditions(list { $0.condition() }), .holds(list { $0.hold() }),
            .networks(list { $0.network() }), .activities(list { $0.activityInfo() }),
            .metrics(text()), .applications(list { $0.application() }),
        ]
    }

    mutating func clientMessages() -> [ClientMessage] {
        let hello = Hello(
            client: ClientID(high: integer(), low: integer()), application: text(), process: integer(),
            isObserver: bool(), launch: optional { LaunchToken(id: $0.id(), secret: $0.integer()) },
            closedClients: list { ClientID(high: $0.integer(), low: $0.integer()) })
        let credit = EventCredit(after: id(), events: integer(), bytes: integer())
        return [.hello(hello), .requestExit(Versions(wire: integer(), library: integer())), .credit(id(), credit)]
            + commands().map { .command(sequence: integer(), repliedThrough: integer(), $0) }
    }

    mutating func engineMessages() -> [EngineMessage] {
        [
            .welcome(welcome()), .notice(.event(identifier: text(), newest: id())),
            .notice(.yield(identifier: text())), .notice(.progress(id(), list { $0.progress() })),
            .notice(.events(id(), after: id(), through: id(), list { $0.event() })), .goodbye(nil),
            .goodbye(failure()),
        ] + replies().map { .reply(sequence: integer(), $0) }
            + [.notice(.removed(HandleID(rawValue: 7))), .notice(.endWithdrawn(HandleID(rawValue: 7)))]
    }
}
