import BackhaulModel

/// The state of the simulated client. The client has one session.
struct PushClient {
    var cache = EventCache()
    var known = EventID.zero
    var returnedThrough = EventID.zero
    var pending: [Int: PushSimulation.Command] = [:]
    var lastNumber = 0
    /// Whether the connected engine has replied to the command that opens the session. After this reply, the client can
    /// send commands.
    var isReady = false
    /// Whether the session's file descriptor is readable, which notifies the host of new events.
    var isReadable: Bool { known > returnedThrough }

    mutating func begin(at id: EventID) {
        returnedThrough = max(returnedThrough, id)
        cache.restart(at: returnedThrough)
    }

    mutating func disconnected() {
        isReady = false
        begin(at: .zero)
    }
}

/// The simulated host that uses the client.
struct PushHost {
    var cursor = EventID.zero
    var seen: Set<EventID> = []
    /// The events that the host has acknowledged since the last failed acknowledgement.
    var acknowledged: Set<EventID> = []
    /// The events whose acknowledgement has succeeded.
    var acknowledgedIDs: Set<EventID> = []
    var acknowledgedThrough = EventID.zero
    /// Whether the host reads all events again from the start, even if the descriptor is not readable.
    var startsOver = false
}

/// Simulates `ClientState`, `SessionClient` and a host. The host *polls* (reads events) and *acknowledges* events that
/// it has processed.
extension PushSimulation {
    mutating func connect() {
        client.lastNumber += 1
        toEngine.append(.attach(client.lastNumber))
    }

    private mutating func grantCredit() {
        if let credit = client.cache.nextCredit(newest: client.known) { toEngine.append(.credit(credit)) }
    }

    private mutating func send(_ number: Int, _ command: Command) {
        switch command {
        case .poll(let after, let maximum, _): toEngine.append(.poll(number, after: after, maximum: maximum))
        case .acknowledge(let acknowledgement): toEngine.append(.acknowledge(number, acknowledgement))
        }
    }

    private mutating func submit(_ command: Command) {
        client.lastNumber += 1
        client.pending[client.lastNumber] = command
        if client.isReady { send(client.lastNumber, command) }
    }

    mutating func receiveInClient() {
        guard !toClient.isEmpty else { return }
        switch toClient.removeFirst() {
        case .attached(_, let newest, let unacknowledged):
            client.known = max(client.known, newest)
            client.begin(at: unacknowledged == 0 ? newest : .zero)
            grantCredit()
            client.isReady = true
            for (number, command) in client.pending.sorted(by: { $0.key < $1.key }) { send(number, command) }
        case .newest(let id): client.known = max(client.known, id)
        case .events(let after, let through, let events):
            client.cache.pushed(events, after: after, through: through)
            client.known = max(client.known, through)
            grantCredit()
        case .polled(let number, let events, let more): polled(number, events, more)
        case .acknowledged(let number, let failed): acknowledged(number, failed)
        }
    }

    private mutating func polled(_ number: Int, _ events: [Event], _ more: Bool) {
        guard case .poll(let after, _, let newest) = client.pending.removeValue(forKey: number) else { return }
        let last = events.last?.id ?? .zero
        client.returnedThrough = max(client.returnedThrough, more ? last : max(last, newest))
        client.cache.polled(after: after, events, more: more, newest: client.known)
        grantCredit()
        countPoll(byPush: false)
        check(events, after: after)
    }

    private mutating func acknowledged(_ number: Int, _ failed: Bool) {
        guard case .acknowledge(let acknowledgement) = client.pending.removeValue(forKey: number) else { return }
        if failed {
            client.cache.failedToAcknowledge(acknowledgement)
            // After the failure, the host polls again from the start.
            host.acknowledged = []
            host.cursor = .zero
            host.startsOver = true
        } else {
            client.cache.acknowledged(acknowledgement)
            switch acknowledgement {
            case .ids(let ids): host.acknowledgedIDs.formUnion(ids)
            case .through(let id): host.acknowledgedThrough = max(host.acknowledgedThrough, id)
            }
        }
        grantCredit()
    }

    // MARK: Host

    mutating func poll() {
        guard client.isReadable || random.once(in: 3) else { return }
        let old = random.once(in: 9) ? random.pick(host.seen.sorted()) : nil
        var after = random.once(in: 5) ? .zero : old ?? host.cursor
        if random.once(in: 50) {
            // Sometimes the host polls with a cursor (the id of an event) beyond all events of the session, for example
            // with the cursor of another session.
            after = EventID(rawValue: client.known.rawValue + UInt64(random.number(1...6)))
            host.startsOver = true
        }
        ask(after: after, maximum: random.number(1...6))
    }

    mutating func ask(after: EventID, maximum: Int) {
        if let found = client.cache.take(after: after, maximum: maximum, newest: client.known) {
            client.returnedThrough = max(client.returnedThrough, found.events.last?.id ?? .zero)
            countPoll(byPush: true)
            check(found.events, after: after)
            grantCredit()
        } else {
            submit(.poll(after: after, maximum: maximum, newest: client.known))
        }
    }

    private mutating func check(_ batch: [Event], after: EventID) {
        for (index, event) in batch.enumerated() {
            let before = index == 0 ? after : batch[index - 1].id
            if event.id <= before { addViolation("\(event.id.rawValue) came after \(before.rawValue)") }
            for missing in store.events where missing.id > before && missing.id < event.id {
                if !isBeingAcknowledged(missing.id) { addViolation("\(missing.id.rawValue) was skipped") }
            }
            if host.acknowledgedIDs.contains(event.id) || event.id <= host.acknowledgedThrough {
                addViolation("\(event.id.rawValue) was acknowledged and returned again")
            }
            host.seen.insert(event.id)
        }
        // After a failed acknowledgement, the host's cursor is zero again. But this batch may be the result of a poll
        // from before the failure, whose cursor `after` was later. Then the batch omits the events between the two
        // cursors, so the host's cursor does not move.
        if let last = batch.last, after <= host.cursor { host.cursor = max(host.cursor, last.id) }
    }

    mutating func acknowledge() {
        // Sometimes the host acknowledges events that an earlier process of the host has read.
        let all = random.once(in: 4) ? store.events.map(\.id) : host.seen.sorted()
        // Sometimes the host acknowledges the same events again.
        let ids = random.once(in: 8) ? all : all.filter { !host.acknowledged.contains($0) }
        guard let id = random.pick(ids) else { return }
        let acknowledgement: Acknowledgement =
            random.once(in: 5) ? .through(id) : .ids(Array(ids.shuffled(using: &random).prefix(3)))
        switch acknowledgement {
        case .ids(let ids): host.acknowledged.formUnion(ids)
        case .through(let id): host.acknowledged.formUnion(all.filter { $0 <= id })
        }
        client.cache.acknowledging(acknowledgement)
        grantCredit()
        submit(.acknowledge(acknowledgement))
    }

    private func isBeingAcknowledged(_ id: EventID) -> Bool {
        client.pending.values.contains { command in
            switch command {
            case .acknowledge(.through(let through)): id <= through
            case .acknowledge(.ids(let ids)): ids.contains(id)
            case .poll: false
            }
        }
    }
}
