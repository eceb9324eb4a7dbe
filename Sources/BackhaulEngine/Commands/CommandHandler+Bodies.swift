internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Files of request bodies are taken over before their tasks are made: looked at, copied into the store or given a
/// second name there. Only when the tasks are durable do consumed files lose their old names, and only then is the host
/// answered.
extension CommandHandler {
    func takeBodies(_ items: [(Request, Origin)], into session: SessionID) {
        let needed = items.indices.filter { index in
            let request = items[index].0
            guard request.hasOptions, let body = request.options.body else { return false }
            // In the same process the engine sees what the host has seen.
            return body.source == .reference && connection.isLocal ? body.files.contains(where: \.isAbsent) : true
        }
        guard !needed.isEmpty else { return insert(items, into: session) }
        connection.isTakingBodies = true
        let requests = needed.map { items[$0].0 }
        let command = connection.hello.map { CommandID(client: $0.client, sequence: sequence) }
        core.store({ (transaction) throws(Failure) -> Set<Int>? in
            if let command, try transaction.applied(command) != nil { return nil }
            return try transaction.positionsWithKnownKey(session, requests)
        }, then: resumed { handler, result in
            switch result {
            case .failure(let failure): handler.refuse(failure)
            // Applied before an engine ended: there is nothing to take any more.
            case .success(nil): handler.insert(items, into: session, bodies: TakenBodies())
            case .success(let known?):
                let unknown = needed.enumerated().filter { !known.contains($0.offset) }.map(\.element)
                handler.take(items, unknown, into: session)
            }
        })
    }

    private func take(_ items: [(Request, Origin)], _ positions: [Int], into session: SessionID) {
        var handed: [HandedOverBody] = []
        var owners: [Int] = []
        for position in positions {
            guard let body = items[position].0.options.body else { continue }
            let name = core.requestBodies.newName(body.source)
            for (number, file) in body.files.enumerated() {
                guard !file.isAbsent else {
                    let failure = Failure(
                        .bodyUnavailable, "the body's file \(file.path) is not there", index: UInt64(position))
                    return refuse(failure)
                }
                let fileName = body.files.count == 1 ? name : "\(name).\(number)"
                handed.append(HandedOverBody(file, body.source, name: fileName))
                owners.append(position)
            }
        }
        let (bodies, positions) = (handed, owners)
        let outbox = core.services.outbox
        let then = resumed { (handler: CommandHandler, result: Result<[BodyFile], Failure>) in
            switch result {
            case .failure(var failure):
                failure.index = failure.index.flatMap { positions.indices.contains(Int($0)) ? positions[Int($0)] : nil }
                    .map(UInt64.init)
                handler.refuse(failure)
            case .success(let files):
                handler.insert(
                    items, into: session, bodies: TakenBodies(handed: bodies, files: files, positions: positions))
            }
        }
        core.services.disk.keep(
            bodies, in: core.services.directory.bodiesPath, forbidden: core.files.folders
        ) { result in outbox.post { core in then(core, result) } }
    }

    /// Comes back to this command, or cleans up after one whose client is gone.
    private func resumed<Value: Sendable>(
        _ body: @escaping @Sendable (CommandHandler, Result<Value, Failure>) -> Void
    ) -> @Sendable (EngineCore, Result<Value, Failure>) -> Void {
        let (id, sequence, answeredThrough) = (connection.id, sequence, answeredThrough)
        return { core, result in
            guard let connection = core.clients[id] else {
                if case .success(let files as [BodyFile]) = result {
                    core.requestBodies.discardUnused(files.compactMap(\.storedName))
                }
                return
            }
            body(
                CommandHandler(
                    core: core, connection: connection, sequence: sequence, answeredThrough: answeredThrough), result)
        }
    }

    private func refuse(_ failure: Failure) {
        connection.reply(sequence, .failed(failure))
        core.bodiesTaken(by: connection)
    }

    private func insert(_ items: [(Request, Origin)], into session: SessionID, bodies: TakenBodies) {
        let items = bodies.applied(to: items)
        let id = connection.id
        insert(
            items, into: session,
            with: { (transaction, results) throws(Failure) in
                let isNew = { (position: Int) in
                    results.indices.contains(position) && results[position].disposition == .new
                }
                try transaction.noteConsumed(bodies.consumed(where: isNew))
            },
            settle: { core, answer in
                core.requestBodies.discardUnused(bodies.names)
                core.requestBodies.removeConsumed { [unowned core] in
                    answer(core)
                    if let connection = core.clients[id] { core.bodiesTaken(by: connection) }
                    return []
                }
            })
    }
}

/// Files that were taken over for the requests of one enqueue.
struct TakenBodies: Sendable {
    var handed: [HandedOverBody] = []
    /// As they are to be read.
    var files: [BodyFile] = []
    /// To which request each belongs.
    var positions: [Int] = []

    var names: [String] { files.compactMap(\.storedName) }

    func applied(to items: [(Request, Origin)]) -> [(Request, Origin)] {
        var items = items
        var replacements: [Int: [BodyFile]] = [:]
        for (file, position) in zip(files, positions) { replacements[position, default: []].append(file) }
        for (position, files) in replacements {
            items[position].0.options.body = items[position].0.options.body?.replacing(files)
        }
        return items
    }

    /// As they were handed over.
    func consumed(where isNew: (Int) -> Bool) -> [BodyFile] {
        zip(handed, positions).filter { $0.0.source == .consume && isNew($0.1) }.map(\.0.file)
    }
}

extension EngineCore {
    /// The next enqueue of this client may come.
    func bodiesTaken(by connection: ClientConnection) {
        connection.isTakingBodies = false
        while !connection.isTakingBodies, let message = connection.takeHeldEnqueue() {
            received(message, from: connection.id)
        }
    }
}
