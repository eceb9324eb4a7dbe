import BackhaulModel

/// The simulated store (the database), which has the committed events of one session.
struct PushStore {
    var events: [Event] = []
    var newest = EventID.zero

    mutating func add(_ kind: Event.Kind, skipping: Int) -> Event {
        newest = EventID(rawValue: newest.rawValue + UInt64(skipping))
        let event = Event(id: newest, round: 1, timeMilliseconds: 0, kind: kind)
        events.append(event)
        return event
    }

    func poll(after: EventID, maximum: Int) -> (events: [Event], more: Bool) {
        let waiting = events.filter { $0.id > after }
        return (Array(waiting.prefix(maximum)), waiting.count > maximum)
    }

    mutating func remove(_ acknowledgement: Acknowledgement) {
        switch acknowledgement {
        case .ids(let ids): events.removeAll { ids.contains($0.id) }
        case .through(let id): events.removeAll { $0.id <= id }
        }
    }
}

/// The state of the simulated engine. Its one *consumer* is a client that reads the session's events.
struct PushEngine {
    /// The credit of the consumer: how many events and bytes the engine may send before the consumer polls. It is nil
    /// until the consumer has opened the session.
    var credit: PushCredit?
    var isReadingAhead = false
    /// Whether the consumer reads more slowly than the engine sends.
    var isBackpressured = false
    var queuedNewest = EventID.zero
    /// The newest event that is committed and not yet announced to the consumer, or zero.
    var newest = EventID.zero
    var parts: [(after: EventID, events: [Event])] = []

    var announces: Bool { newest > .zero }
    var pushes: Bool { !isBackpressured && credit?.canPush == true }
}

/// Simulates `EventPublisher` and `SocketPeer`.
extension PushSimulation {
    mutating func receiveInEngine() {
        guard !toEngine.isEmpty else { return }
        switch toEngine.removeFirst() {
        case .attach(let number): toStore.append(.attach(number))
        case .credit(let credit):
            engine.credit?.grant(credit)
            readAhead()
        case .poll(let number, let after, let maximum):
            toStore.append(.poll(number, after: after, maximum: maximum))
        case .acknowledge(let number, let acknowledgement): toStore.append(.acknowledge(number, acknowledgement))
        }
    }

    mutating func performStoreJob() {
        guard !toStore.isEmpty else { return }
        switch toStore.removeFirst() {
        case .attach(let number):
            fromStore.append(.attached(number, newest: store.newest, unacknowledged: store.events.count))
        case .commit(let readsEvents): commit(readsEvents)
        case .openChallenge:
            let previous = store.newest
            let event = store.add(.challenge(nil), skipping: random.number(1...3))
            fromStore.append(.committed(newest: event.id, after: previous, []))
        case .closeChallenge:
            let open = store.events.filter { $0.kind == .challenge(nil) }
            if let event = random.pick(open) { store.events.removeAll { $0.id == event.id } }
        case .poll(let number, let after, let maximum):
            let (events, more) = store.poll(after: after, maximum: maximum)
            fromStore.append(.polled(number, events, more: more))
        case .acknowledge(let number, let acknowledgement):
            // Sometimes the store is full, so the acknowledgement fails.
            let fails = random.once(in: 20)
            if fails { countRefusal() } else { store.remove(acknowledgement) }
            fromStore.append(.acknowledged(number, failed: fails))
        case .readAhead(let credit):
            let (events, more) = store.poll(after: credit.cursor, maximum: credit.room)
            fromStore.append(.readAhead(credit, events, more: more))
        }
    }

    private mutating func commit(_ readsEvents: Bool) {
        let previous = store.newest
        let made = (1...random.number(1...3)).map { _ in
            var task = EndedTask(
                id: TaskID(rawValue: 1), url: "u", idempotencyKey: nil, userData: nil,
                outcome: Outcome(state: .cancelled))
            // Some events are large, so the credit suffices for only a few of these events.
            if random.once(in: 4) { task.userData = [UInt8](repeating: 0, count: random.number(1...60_000)) }
            return store.add(.taskEnded(task), skipping: random.number(1...3))
        }
        fromStore.append(.committed(newest: store.newest, after: previous, readsEvents ? made : []))
    }

    mutating func processStoreResult() {
        guard !fromStore.isEmpty else { return }
        switch fromStore.removeFirst() {
        case .attached(let number, let newest, let unacknowledged):
            engine.credit = PushCredit(newest: newest)
            toClient.append(.attached(number, newest: newest, unacknowledged: unacknowledged))
        case .committed(let newest, let after, let events):
            engine.newest = newest
            if !events.isEmpty { engine.parts.append((after, events)) }
        case .polled(let number, let events, let more): toClient.append(.polled(number, events, more: more))
        case .acknowledged(let number, let failed): toClient.append(.acknowledged(number, failed: failed))
        case .readAhead(let asked, let events, let more): haveRead(asked, events, more)
        }
    }

    mutating func announce() {
        guard engine.announces else { return }
        let (newest, parts) = (engine.newest, engine.parts)
        (engine.newest, engine.parts) = (.zero, [])
        guard var credit = engine.credit else { return sendNewest(newest) }
        let start = credit.cursor
        var pushed: [Event] = []
        for part in parts where !engine.isBackpressured {
            guard let last = part.events.last?.id else { continue }
            pushed += credit.push(part.events, after: part.after, through: last)?.events ?? []
        }
        credit.advance(newest: newest)
        engine.credit = credit
        if credit.cursor > start {
            toClient.append(.events(after: start, through: credit.cursor, pushed))
        }
        readAhead()
        if credit.cursor < newest { sendNewest(newest) }
    }

    private mutating func sendNewest(_ newest: EventID) {
        if engine.isBackpressured {
            engine.queuedNewest = max(engine.queuedNewest, newest)
        } else {
            toClient.append(.newest(newest))
        }
    }

    mutating func setBackpressured(_ isBackpressured: Bool) {
        engine.isBackpressured = isBackpressured
        guard !isBackpressured else { return }
        if engine.queuedNewest > .zero { toClient.append(.newest(engine.queuedNewest)) }
        engine.queuedNewest = .zero
        readAhead()
    }

    private mutating func readAhead() {
        guard
            let credit =
                engine.credit, credit.wantsMore, !engine.isReadingAhead, !engine.isBackpressured
        else { return }
        engine.isReadingAhead = true
        toStore.append(.readAhead(credit))
    }

    private mutating func haveRead(_ asked: PushCredit, _ events: [Event], _ more: Bool) {
        engine.isReadingAhead = false
        guard var credit = engine.credit else { return }
        let start = credit.cursor
        let last = events.last?.id ?? .zero
        let push = credit.push(events, after: asked.cursor, through: more ? last : max(asked.newest, last))
        engine.credit = credit
        guard let push else { return }
        toClient.append(.events(after: start, through: credit.cursor, push.events))
        readAhead()
    }
}
