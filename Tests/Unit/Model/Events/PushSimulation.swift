import BackhaulModel

/// Simulates a store (the database), several engines one after the other, and one client with its host. The engine may
/// *push* events: it sends them before the client demands them. The *client* is the part of the library in the *host*,
/// the program that reads the events. Messages in each direction keep their order. When an engine ends, its messages
/// are lost. The store performs its jobs in order, and the engine reports commits to the client later. The host polls
/// from new and old cursors, which are ids of events, and acknowledges some of the events that the host has seen.
///
/// All choices come from one seed. The order of a set differs between processes, so no choice depends on the order of a
/// set.
struct PushSimulation {
    enum ToEngine {
        case attach(Int)
        case credit(EventCredit)
        case poll(Int, after: EventID, maximum: Int)
        case acknowledge(Int, Acknowledgement)
    }

    enum ToClient {
        case attached(Int, newest: EventID, unacknowledged: Int)
        case newest(EventID)
        case events(after: EventID, through: EventID, [Event])
        case polled(Int, [Event], more: Bool)
        case acknowledged(Int, failed: Bool)
    }

    enum Command {
        case poll(after: EventID, maximum: Int, newest: EventID)
        case acknowledge(Acknowledgement)
    }

    /// A job for the store.
    enum Job {
        case attach(Int)
        case commit(readsEvents: Bool)
        case openChallenge
        case closeChallenge
        case poll(Int, after: EventID, maximum: Int)
        case acknowledge(Int, Acknowledgement)
        case readAhead(PushCredit)
    }

    /// The result of a job of the store.
    enum Result {
        case attached(Int, newest: EventID, unacknowledged: Int)
        case committed(newest: EventID, after: EventID, [Event])
        case polled(Int, [Event], more: Bool)
        case acknowledged(Int, failed: Bool)
        case readAhead(PushCredit, [Event], more: Bool)
    }

    var random: Random
    var store = PushStore()
    var engine = PushEngine()
    var client = PushClient()
    var host = PushHost()
    // The messages between store, engine and client that are not handled yet.
    var toStore: [Job] = []
    var fromStore: [Result] = []
    var toEngine: [ToEngine] = []
    var toClient: [ToClient] = []
    /// How many messages the store, the engine or the client handles in one step.
    private let pace: Int
    /// Whether commits are paused.
    private var isQuiet = false
    private(set) var violations: [String] = []
    private(set) var counts = (byPush: 0, byStore: 0, refusals: 0)

    init(seed: UInt64) {
        random = Random(seed: seed)
        pace = random.number(1...6)
        connect()
    }

    mutating func step() {
        if random.once(in: 60) { isQuiet.toggle() }
        switch random.number(0...29) {
        case 0...4: if !isQuiet { change() }
        case 5...9: for _ in 0..<pace { performStoreJob() }
        case 10...14: for _ in 0..<pace { processStoreResult() }
        case 15...16: announce()
        case 17...19: for _ in 0..<pace { receiveInEngine() }
        case 20...23: for _ in 0..<pace { receiveInClient() }
        case 24...26: poll()
        case 27: acknowledge()
        case 28: if random.once(in: 3) { acknowledge() }
        default:
            if random.once(in: 10) { restartEngine() }
            if random.once(in: 5) { setBackpressured(!engine.isBackpressured) }
        }
    }

    /// Delivers all pending messages. Then the host polls while its descriptor is readable. At the end, the host must
    /// have seen all events.
    mutating func finish() {
        setBackpressured(false)
        settle()
        for _ in 0..<10_000 where client.isReadable || host.startsOver {
            let cursor = host.cursor
            ask(after: cursor, maximum: 50)
            settle()
            if host.cursor == cursor { host.startsOver = false }
        }
        if client.isReadable { addViolation("the descriptor stays readable") }
        for event in store.events where !host.seen.contains(event.id) {
            addViolation("\(event.id.rawValue) was never returned")
        }
    }

    mutating func addViolation(_ complaint: String) { violations.append(complaint) }

    mutating func countPoll(byPush: Bool) {
        if byPush { counts.byPush += 1 } else { counts.byStore += 1 }
    }

    mutating func countRefusal() { counts.refusals += 1 }

    private mutating func settle() {
        while !toEngine.isEmpty || !toStore.isEmpty || !fromStore.isEmpty || engine.announces || !toClient.isEmpty {
            receiveInEngine()
            performStoreJob()
            processStoreResult()
            announce()
            receiveInClient()
        }
    }

    private mutating func change() {
        switch random.number(0...19) {
        case 0: toStore.append(.openChallenge)
        case 1: toStore.append(.closeChallenge)
        default: toStore.append(.commit(readsEvents: engine.pushes && random.once(in: 2)))
        }
    }

    /// Replaces the engine. The store still has the events that the old engine committed but did not report.
    private mutating func restartEngine() {
        toEngine = []
        toStore = []
        fromStore = []
        toClient = []
        engine = PushEngine()
        client.disconnected()
        connect()
    }
}
