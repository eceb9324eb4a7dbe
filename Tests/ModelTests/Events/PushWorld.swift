import BackhaulModel

/// A store, engines that die, and one client, with a channel in each direction that keeps its order and is lost with
/// the engine. The host polls from cursors new and old and acknowledges some of what it has seen.
struct PushWorld {
    private enum ToEngine {
        case credit(EventCredit)
        case poll(Int, after: EventID, maximum: Int)
        case acknowledge(Int, Acknowledgement)
    }

    private enum ToClient {
        case newest(EventID)
        case events(after: EventID, through: EventID, [Event])
        case polled(Int, [Event], more: Bool)
        case acknowledged(Int, failed: Bool)
    }

    private enum Command {
        case poll(after: EventID, maximum: Int, newest: EventID)
        case acknowledge(Acknowledgement)
    }

    private var random: Random
    // The store.
    private var events: [Event] = []
    private var lastID: UInt64 = 0
    private var newest = EventID.zero
    private(set) var refusals = 0
    // The engine.
    private var window = PushWindow(newest: .zero)
    private var parts: [(after: EventID, events: [Event])] = []
    private var announced = EventID.zero
    // Between them.
    private var toEngine: [ToEngine] = []
    private var toClient: [ToClient] = []
    // The client.
    private var cache = EventCache()
    private var known = EventID.zero
    private var handedOut = EventID.zero
    private var pending: [Int: Command] = [:]
    private var lastCommand = 0
    // The host.
    private var cursor = EventID.zero
    private var seen: Set<EventID> = []
    private var acknowledged: Set<EventID> = []
    private var acknowledgedThrough = EventID.zero
    /// Nothing is committed for now.
    private var isQuiet = false
    private(set) var answeredByPush = 0
    private(set) var answeredByStore = 0
    private(set) var complaints: [String] = []

    init(seed: UInt64) {
        random = Random(seed: seed)
        attach()
    }

    mutating func step() {
        if random.once(in: 60) { isQuiet.toggle() }
        switch random.number(0...19) {
        case 0...4: if !isQuiet { commit() }
        case 5...8: if !toEngine.isEmpty { atEngine(toEngine.removeFirst()) }
        case 9...13: if !toClient.isEmpty { atClient(toClient.removeFirst()) }
        case 14...16: poll()
        case 17...18: acknowledge()
        default: if random.once(in: 8) { dieAndRestart() }
        }
    }

    /// Everything that is under way arrives; then the host reads until the store says that there is no more.
    mutating func finish() {
        for _ in 0..<10_000 {
            settle()
            guard pending.isEmpty else { continue }
            let before = answeredByStore
            let cursorBefore = cursor
            ask(after: cursor, maximum: 50)
            settle()
            if answeredByStore > before, cursor == cursorBefore { break }
        }
        for event in events where !seen.contains(event.id) {
            complaints.append("\(event.id.rawValue) was never handed out")
        }
    }

    private mutating func settle() {
        while !toEngine.isEmpty || !toClient.isEmpty || announced < newest {
            announce()
            if !toEngine.isEmpty { atEngine(toEngine.removeFirst()) }
            if !toClient.isEmpty { atClient(toClient.removeFirst()) }
        }
    }

    // MARK: Store and engine

    private mutating func commit() {
        let previous = newest
        let count = random.number(1...3)
        var made: [Event] = []
        for _ in 0..<count {
            lastID += UInt64(random.number(1...3))
            var task = EndedTask(
                id: TaskID(rawValue: lastID), url: "u", idempotencyKey: nil, userData: nil,
                outcome: Outcome(state: .cancelled))
            // Some are so large that few fit.
            if random.once(in: 4) { task.userData = [UInt8](repeating: 0, count: random.number(1...60_000)) }
            made.append(Event(id: EventID(rawValue: lastID), round: 1, timeMilliseconds: 0, kind: .taskEnded(task)))
        }
        events += made
        newest = EventID(rawValue: lastID)
        if window.takes, random.once(in: 2) { parts.append((previous, made)) }
        if random.once(in: 2) { announce() }
    }

    private mutating func announce() {
        guard announced < newest else { return }
        announced = newest
        let start = window.cursor
        var pushed: [Event] = []
        for part in parts {
            guard let last = part.events.last?.id else { continue }
            pushed += window.push(part.events, after: part.after, through: last)?.events ?? []
        }
        parts = []
        window.learn(newest: newest)
        if window.cursor > start {
            toClient.append(.events(after: start, through: window.cursor, pushed))
        }
        readAhead()
        if window.cursor < newest { toClient.append(.newest(newest)) }
    }

    private mutating func readAhead() {
        while window.wantsMore {
            let (start, room) = (window.cursor, window.room)
            let waiting = events.filter { $0.id > start }
            let read = Array(waiting.prefix(room))
            let through = read.count < waiting.count ? read.last?.id ?? .zero : newest
            guard let push = window.push(read, after: start, through: through) else { return }
            toClient.append(.events(after: start, through: window.cursor, push.events))
        }
    }

    private mutating func atEngine(_ message: ToEngine) {
        switch message {
        case .credit(let credit):
            window.grant(credit)
            readAhead()
        case .poll(let number, let after, let maximum):
            let waiting = events.filter { $0.id > after }
            toClient.append(.polled(number, Array(waiting.prefix(maximum)), more: waiting.count > maximum))
        case .acknowledge(let number, let acknowledgement):
            // The store may be full.
            let fails = random.once(in: 20)
            if fails { refusals += 1 } else { remove(acknowledgement) }
            toClient.append(.acknowledged(number, failed: fails))
        }
    }

    private mutating func remove(_ acknowledgement: Acknowledgement) {
        switch acknowledgement {
        case .ids(let ids): events.removeAll { ids.contains($0.id) }
        case .through(let id): events.removeAll { $0.id <= id }
        }
    }

    private mutating func dieAndRestart() {
        toEngine = []
        toClient = []
        parts = []
        window = PushWindow(newest: newest)
        announced = newest
        attach()
        for (number, command) in pending.sorted(by: { $0.key < $1.key }) { send(number, command) }
    }

    // MARK: Client

    private mutating func attach() {
        known = max(known, newest)
        if events.isEmpty { handedOut = max(handedOut, newest) }
        cache.restart(at: handedOut)
        renewCredit()
    }

    private mutating func renewCredit() {
        if let credit = cache.nextCredit(newest: known) { toEngine.append(.credit(credit)) }
    }

    private mutating func send(_ number: Int, _ command: Command) {
        switch command {
        case .poll(let after, let maximum, _): toEngine.append(.poll(number, after: after, maximum: maximum))
        case .acknowledge(let acknowledgement): toEngine.append(.acknowledge(number, acknowledgement))
        }
    }

    private mutating func submit(_ command: Command) {
        lastCommand += 1
        pending[lastCommand] = command
        send(lastCommand, command)
    }

    private mutating func atClient(_ message: ToClient) {
        switch message {
        case .newest(let id): known = max(known, id)
        case .events(let after, let through, let events):
            cache.pushed(events, after: after, through: through)
            known = max(known, through)
            renewCredit()
        case .polled(let number, let events, let more):
            guard case .poll(let after, _, let newest) = pending.removeValue(forKey: number) else { return }
            let last = events.last?.id ?? .zero
            handedOut = max(handedOut, more ? last : max(last, newest))
            cache.polled(after: after, events, more: more, newest: known)
            renewCredit()
            answeredByStore += 1
            look(at: events, after: after)
        case .acknowledged(let number, let failed):
            guard case .acknowledge(let acknowledgement) = pending.removeValue(forKey: number) else { return }
            if failed {
                cache.failedToAcknowledge(acknowledgement)
                // The host hears of it and takes it back.
                if case .ids(let ids) = acknowledgement { acknowledged.subtract(ids) }
                acknowledgedThrough = .zero
                cursor = .zero
            } else {
                cache.acknowledged(acknowledgement)
                if case .through(let id) = acknowledgement { acknowledgedThrough = max(acknowledgedThrough, id) }
            }
            renewCredit()
        }
    }

    // MARK: Host

    private mutating func poll() {
        // Sorted: a set has another order in each process, and then the same seed would make other steps.
        let old = random.once(in: 9) ? seen.sorted().randomElement(using: &random) : nil
        ask(after: random.once(in: 5) ? .zero : old ?? cursor, maximum: random.number(1...6))
    }

    private mutating func ask(after: EventID, maximum: Int) {
        if let found = cache.take(after: after, maximum: maximum, newest: known) {
            answeredByPush += 1
            handedOut = max(handedOut, found.events.last?.id ?? .zero)
            look(at: found.events, after: after)
            renewCredit()
        } else {
            submit(.poll(after: after, maximum: maximum, newest: known))
        }
    }

    private mutating func look(at batch: [Event], after: EventID) {
        for (index, event) in batch.enumerated() {
            let before = index == 0 ? after : batch[index - 1].id
            if event.id <= before { complaints.append("\(event.id.rawValue) came after \(before.rawValue)") }
            // What was committed in between and is still there was passed over.
            for missing in events where missing.id > before && missing.id < event.id {
                if !isAcknowledged(missing.id) { complaints.append("\(missing.id.rawValue) was passed over") }
            }
            if isApplied(event.id) { complaints.append("\(event.id.rawValue) was acknowledged and came again") }
            seen.insert(event.id)
        }
        // What lies between the cursor and an answer that begins beyond it was not seen: that poll is from before a
        // refusal that made the host start over, or from a cursor that it remembered.
        if let last = batch.last, after <= cursor { cursor = max(cursor, last.id) }
    }

    private mutating func acknowledge() {
        // Some that it saw in an earlier life.
        let all = random.once(in: 4) ? Set(events.map(\.id)) : seen
        let ids = all.filter { !acknowledged.contains($0) }.sorted()
        guard let id = ids.randomElement(using: &random) else { return }
        let acknowledgement: Acknowledgement =
            random.once(in: 4) ? .through(id) : .ids(Array(ids.shuffled(using: &random).prefix(3)))
        switch acknowledgement {
        case .ids(let ids): acknowledged.formUnion(ids)
        case .through(let id): acknowledged.formUnion(events.map(\.id).filter { $0 <= id })
        }
        cache.acknowledging(acknowledgement)
        renewCredit()
        submit(.acknowledge(acknowledgement))
    }

    private func isAcknowledged(_ id: EventID) -> Bool {
        acknowledged.contains(id) || id <= acknowledgedThrough || pending.values.contains { command in
            switch command {
            case .acknowledge(.through(let through)): id <= through
            case .acknowledge(.ids(let ids)): ids.contains(id)
            case .poll: false
            }
        }
    }

    /// The acknowledgement was answered, and not with a failure.
    private func isApplied(_ id: EventID) -> Bool {
        !events.contains { $0.id == id }
            && !pending.values.contains { if case .acknowledge = $0 { true } else { false } }
    }
}
