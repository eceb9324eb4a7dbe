import CSimulation

/// What happens in the world of one run. The seed decides it before the run begins, so that a part of a history can be
/// left out and the rest stays the same. All times are in microseconds since the start of the run.
struct History {
    /// How many programs use the store. They are numbered from 1.
    var programs: Int
    /// Whether the programs use a daemon. Otherwise one of them is the engine.
    var hasDaemon: Bool
    /// Whether the daemon launches the programs.
    var hasLaunches: Bool
    var tasks: [TaskPlan]
    /// The network delivers at the multiples of this time, as radio does that sleeps meanwhile; 0: at any time.
    var beat: Int64
    var faults: [Fault]
    var disk: Disk
    /// How many transfers of a program may run at the same time; 0: the engine's default.
    var runningLimit: UInt32
    /// The percentage of polls after which a program acknowledges nothing.
    var forgetfulness: Int64
    /// Whether each process of the program first enqueues the tasks again whose ends it does not know.
    var repeatsEnqueues: Bool
    /// Whether the program also enqueues tasks again that have ended.
    var repeatsEnded = false
    /// Whether polls continue after the last event that the program has seen, and not after those it has acknowledged.
    var hasCursor: Bool
    /// Whether the program sometimes enqueues a download into a directory that the daemon does not see.
    var usesHiddenDirectory = false
    /// Whether each process of a program first receives the events again that are not acknowledged.
    var receivesAgain = false
    /// Whether the programs are started once more when all tasks have ended, to find what is left.
    var isInspected = false
    /// The times at which the secrets of the servers change; empty: they have none (`Credentials.swift`).
    var rotations: [UInt32: [Int64]] = [:]
    /// Whether the sessions ask for credentials.
    var asksForCredentials = false
    /// When the programs cancel all tasks of a group.
    var groupCancels: [GroupCancel] = []
    /// When a newer library is installed; nil: never. Processes that start later use it.
    var upgrade: Int64?

    /// The number of the call on the system that fails, in place of the faults of the disk; 0: none.
    var failedCall: UInt64
    /// Whether it is an allocation of memory.
    var failsAllocation: Bool

    /// Whether calls on the system fail at some time.
    var hasDiskFaults: Bool { failedCall > 0 || disk.mayFail || faults.contains { $0.kind == .fullDisk } }

    func plan(_ number: Int) -> TaskPlan? { tasks.first { $0.number == number } }

    /// The calendar at the start of the run, in microseconds since 1970.
    static let calendar: Int64 = 1_700_000_000 * second
    /// After this time, servers and the machine have no fault any more.
    static let lastFault: Int64 = 2 * hour
    /// By this time, each task must have ended: the retries have at most some hours between them.
    static let lastEnd: Int64 = 72 * hour
}

let millisecond: Int64 = 1_000
let second: Int64 = 1_000_000
let hour: Int64 = 3_600 * second

/// The disk with the store and the files.
struct Disk {
    /// Whether changes of names reach the disk in their order, as with ext4 and XFS.
    var isOrdered: Bool
    /// How long a sync takes on average.
    var syncTime: Int64
    /// Before the last fault, one of this number of calls on files fails; 0: none.
    var callsPerFailure: UInt64
    /// Before the last fault, one of this number of calls of one kind fails; 0: none. For example, many disks report at
    /// syncs what they could not write.
    var weakCallsPerFailure: UInt64
    var weakCall: sim_file_call
    /// Whether the store is on another disk, which has no weak call.
    var hasOtherStore: Bool

    var mayFail: Bool { callsPerFailure > 0 || weakCallsPerFailure > 0 }
}

/// A task that a program enqueues.
struct TaskPlan: Equatable {
    /// The number of the task, and of its resource and its file.
    var number: Int
    var program: Int
    var time: Int64
    var size: Int64
    var resource: Resource
    var kind: Kind
    /// When the program cancels it; nil: never.
    var cancelled: Int64?
    /// The task that transfers the same, for example from a mirror. When it has ended, the program cancels this one.
    var rival: Int?
    /// While the program suspends it; nil: never.
    var suspended: ClosedRange<Int64>?
    var priority: Int32
    /// The group of the program in which it is; nil: none.
    var group: Int?
    /// Whether there is a file of another content, which the task replaces.
    var replaces: Bool
    /// How the task sends a file; nil: it sends bytes from memory, or nothing.
    var upload: UploadPlan?
    /// The task for which it waits; nil: none.
    var chain: ChainPlan?
    /// How it gets a secret that changes; nil: its server accepts any.
    var credential: CredentialPlan?
    /// What the program does with the file that is in the store at the end; nil: there is none.
    var kept: KeptFilePlan?
    /// The task whose idempotency key it takes, if that task has ended without success; nil: it has its own key.
    var keyOwner: Int?
    /// When the program makes another file at the old path of the consumed file; nil: never.
    var pathTaken: Int64?

    enum Kind { case download, put, post }

    var isUpload: Bool { kind != .download }
    var mayBeCancelled: Bool { cancelled != nil || rival != nil }

    mutating func compete(with rival: TaskPlan) {
        (self.rival, time, size, kind) = (rival.number, rival.time, rival.size, rival.kind)
        replaces = replaces && !isUpload
        resource.pace = rival.resource.pace
    }
}

/// What a server has at a path.
struct Resource: Equatable {
    enum Validator: Equatable, CaseIterable { case strong, weak, date, none }

    var server: UInt32
    var validator: Validator
    var hasRanges: Bool
    var isChunked: Bool
    /// The longest time between two parts of the content.
    var pace: Int64
    /// The times at which the content changes.
    var changes: [Int64]
    /// The content also changes two times after the first request, two times after the second one, and so on: after
    /// these times. Time-stamps of the content may be of the second of the response.
    var changesAfterRequests: [Int64]
    /// Whether all versions of the content have the same size.
    var keepsSize: Bool
    /// Whether the first content that is sent breaks off. A server that gets a new content may be started again, too.
    var breaksFirst: Bool
    /// For each hundred requests before the last fault, how many are answered with a fault.
    var faultPercent: Int64
    /// If true, the server always answers with 404.
    var isMissing: Bool

    /// The greatest number of a version.
    var lastVersion: UInt64 { UInt64(changes.count + changesAfterRequests.count) }
}

/// What happens to the machine, to a program and to the network.
struct Fault: Equatable {
    enum Kind: Equatable {
        /// The program is killed, and started again after the duration.
        case kill
        /// The daemon is killed, if there is one.
        case killDaemon
        /// The power fails, and the machine starts again after the duration.
        case powerCut
        /// The program ends by itself, and is started again after the duration.
        case exit
        /// No server answers during the duration.
        case outage
        /// The calendar is set forward or back by the duration.
        case calendar
        /// The program does nothing during the duration.
        case pause
        /// The disk has no space during the duration.
        case fullDisk
        /// The threads of the program stop for the duration, as with SIGSTOP. The duration is shorter than the times
        /// after which other programs or the engine give up.
        case stop
    }

    var kind: Kind
    var program: Int
    var time: Int64
    var duration: Int64
}

extension History {
    init(_ choice: Choice) {
        var random = Random(seed: choice.seed)
        let programs = random.chance(50) ? 1 : Int(random.int(2...3))
        let count = random.magnitude(1...40)
        self.programs = programs
        hasDaemon = random.chance(40)
        hasLaunches = hasDaemon && random.chance(50)
        tasks = (0..<Int(count)).map { Self.task($0, of: programs, &random) }
        for index in programs..<max(programs, tasks.count) {
            let rival = tasks[index - programs]
            if random.chance(rival.rival == nil ? 10 : 60) { tasks[index].compete(with: rival) }
        }
        beat = random.chance(30) ? random.magnitude(10_000...300_000) : 0
        faults = (0..<random.magnitude(0...12)).map { _ in Self.fault(of: programs, &random) }
            .sorted { $0.time < $1.time }
        disk = Disk(
            isOrdered: random.chance(60), syncTime: random.chance(40) ? 0 : random.magnitude(100...200_000),
            callsPerFailure: random.chance(25) ? UInt64(random.magnitude(200...20_000)) : 0,
            weakCallsPerFailure: random.chance(20) ? UInt64(random.magnitude(4...1_000)) : 0,
            weakCall: random.pick([SIM_SYNC, SIM_SYNC, SIM_WRITE, SIM_READ, SIM_OPEN, SIM_RENAME]),
            hasOtherStore: random.chance(60))
        (failedCall, failsAllocation) = (choice.failedCall, choice.failsAllocation)
        runningLimit = random.chance(50) ? 0 : UInt32(random.int(1...4))
        forgetfulness = random.chance(30) ? random.int(10...80) : 0
        (repeatsEnqueues, hasCursor) = (random.chance(50), random.chance(30))
        if random.chance(30) { cancelHalf(at: random.magnitude(1...2 * second), &random) }
        addFeatures(choice)
        tasks = tasks.filter { choice.leftOutTasks >> UInt64($0.number) & 1 == 0 }
        leaveOutBrokenChains()
        faults = faults.enumerated().filter { choice.leftOutFaults >> UInt64($0.offset) & 1 == 0 }.map(\.element)
    }

    private mutating func addFeatures(_ choice: Choice) {
        func generator(_ salt: UInt64) -> Random { Random(seed: Random.mix(choice.seed ^ salt)) }
        if choice.includes(.rare) {
            addRareEvents(generator(0), hasUpgrade: choice.hasUpgrade)
            addUploads(generator(0x5eed))
            addChains(generator(0xc4a1))
            addInspection(generator(0xa9a1))
        }
        if choice.includes(.credentials) { addCredentials(generator(0xc4ed)) }
        if choice.includes(.groups) {
            addRepeatedEnds(generator(0x4e9a))
            addGroups(generator(0x96a0))
        }
        if choice.includes(.storeFiles) {
            addKeptFiles(generator(0x4e97))
            addConsumedBodies(generator(0xc025))
        }
        if choice.includes(.reuse) { addReuse(generator(0x2e05)) }
    }

    private mutating func addRareEvents(_ generator: Random, hasUpgrade: Bool) {
        var random = generator
        let time = random.magnitude(1...Self.lastFault)
        upgrade = hasUpgrade ? time : nil
        usesHiddenDirectory = hasDaemon && random.chance(40)
        if random.chance(10) { crowdTasks(&random) }
        guard programs > 1, random.chance(20) else { return }
        for _ in 0..<random.int(1...4) { addEndOfEngineDuringStop(&random) }
        faults.sort { $0.time < $1.time }
    }

    /// Many small tasks end at the same moments, while the disk is slow, and some are cancelled at such a moment.
    private mutating func crowdTasks(_ random: inout Random) {
        beat = random.magnitude(20_000...300_000)
        disk.syncTime = random.magnitude(20_000...200_000)
        runningLimit = 0
        for index in tasks.indices where tasks[index].rival == nil {
            (tasks[index].time, tasks[index].resource.pace) = (0, 1_000)
            tasks[index].size %= 30_000
        }
        cancelHalf(at: random.int(1...2 * second), &random)
    }

    /// A program is stopped, and the engine ends meanwhile. So the program reaches the next engine later than others.
    private mutating func addEndOfEngineDuringStop(_ random: inout Random) {
        let program = Int(random.int(1...Int64(programs)))
        let stop = Fault(
            kind: .stop, program: program, time: random.magnitude(1...Self.lastFault),
            duration: random.int(second...3 * second))
        faults.append(stop)
        faults.append(
            Fault(
                kind: hasDaemon ? .killDaemon : .kill, program: program % programs + 1,
                time: stop.time + random.int(1...stop.duration / 2), duration: random.magnitude(second...600 * second)))
    }

    /// The programs cancel about a half of their tasks at once, as a user does who clears a list.
    private mutating func cancelHalf(at time: Int64, _ random: inout Random) {
        for index in tasks.indices where tasks[index].time <= time && random.chance(50) {
            tasks[index].cancelled = time
        }
    }

    private static func task(_ number: Int, of programs: Int, _ random: inout Random) -> TaskPlan {
        let time = random.chance(60) ? 0 : random.int(0...lastFault)
        let changesAfterRequests =
            random.chance(20)
            ? (0..<random.pick([2, 4])).map { _ in random.pick([0, random.magnitude(1...second)]) } : []
        let resource = Resource(
            server: UInt32(random.int(1...4)), validator: random.pick(Resource.Validator.allCases),
            hasRanges: random.chance(80), isChunked: random.chance(15), pace: random.magnitude(1_000...400_000),
            changes: random.chance(25) ? (0..<random.int(1...3)).map { _ in random.int(0...lastFault) } : [],
            changesAfterRequests: changesAfterRequests, keepsSize: random.chance(60),
            breaksFirst: random.chance(changesAfterRequests.isEmpty ? 5 : 50),
            faultPercent: random.chance(50) ? random.int(5...70) : 0,
            isMissing: random.chance(4))
        let kind: TaskPlan.Kind = random.chance(75) ? .download : random.pick([.put, .post])
        return TaskPlan(
            number: number, program: 1 + number % programs, time: time,
            size: random.chance(5) ? 0 : random.magnitude(1...3_000_000), resource: resource, kind: kind,
            // Many requests are answered in the first second, so many tasks are cancelled then.
            cancelled: random.chance(10) ? time + random.magnitude(1...random.pick([second, 600 * second])) : nil,
            suspended: random.chance(8) ? suspension(after: time, &random) : nil,
            priority: random.chance(20) ? Int32(random.int(-100...100)) : 0,
            replaces: kind == .download && random.chance(25))
    }

    private static func suspension(after time: Int64, _ random: inout Random) -> ClosedRange<Int64> {
        let start = time + random.magnitude(1...600 * second)
        return start...start + random.magnitude(second...hour)
    }

    private static func fault(of programs: Int, _ random: inout Random) -> Fault {
        let kinds: [Fault.Kind] = [
            .kill, .kill, .killDaemon, .powerCut, .powerCut, .exit, .outage, .calendar, .pause, .fullDisk,
        ]
        let kind = random.pick(kinds)
        // Many things happen in the first seconds, so many faults do, too.
        let time = random.magnitude(1...lastFault)
        let duration =
            switch kind {
            case .calendar: random.int(-30 * 24 * hour...30 * 24 * hour)
            case .outage, .pause, .fullDisk, .stop: random.magnitude(second...hour)
            case .kill, .killDaemon, .powerCut, .exit: random.magnitude(second...600 * second)
            }
        return Fault(kind: kind, program: Int(random.int(1...Int64(programs))), time: time, duration: duration)
    }
}
