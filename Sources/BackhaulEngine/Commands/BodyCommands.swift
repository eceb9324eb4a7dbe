internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Takes the files of request bodies into the store before the tasks are created: checks the files, and copies or links
/// them. A *consumed* file is one that moves into the store. When the tasks are durable, the old names of consumed
/// files are removed. Then the reply is sent.
struct BodyCommands {
    let call: CommandCall
    private var engine: EngineLoop { call.engine }

    /// Returns the positions of the requests whose bodies must be taken into the store.
    func untaken(_ items: [(Request, Origin)]) -> [Int] {
        items.indices.filter { index in
            let request = items[index].0
            guard request.hasOptions, let body = request.options.body else { return false }
            // A client in the engine's process sees the same files as the engine, and has already checked them. If its
            // body is a `reference`, the body is processed here only if one of the body's files is missing.
            return body.source == .reference && call.connection.isLocal ? body.files.contains(where: \.isAbsent) : true
        }
    }

    /// Takes the bodies of the requests at these positions into the store, and then inserts the tasks of all requests.
    func take(_ items: [(Request, Origin)], at needed: [Int], into session: SessionID) {
        call.connection.isIngestingBodies = true
        let requests = needed.map { items[$0].0 }
        let command = call.commandID
        engine.runtime.store(
            { (transaction) throws(Failure) -> Set<Int>? in
                if let command, try transaction.commands.reply(to: command) != nil { return nil }
                return try transaction.tasks.positionsWithKnownKey(session, requests)
            },
            then: { result in
                guard call.isConnected else { return [] }
                switch result {
                case .failure(let failure): refuse(failure)
                // If the result is nil, the client has repeated a command that was already performed. Then no file has
                // to be taken into the store.
                case .success(nil): insert(items, into: session, bodies: IngestedBodies())
                case .success(let known?):
                    let unknown = needed.enumerated().filter { !known.contains($0.offset) }.map(\.element)
                    take(items, unknown, into: session)
                }
                return []
            })
    }

    private func take(_ items: [(Request, Origin)], _ positions: [Int], into session: SessionID) {
        var ingested: [IngestedBody] = []
        var owners: [Int] = []
        for position in positions {
            guard let body = items[position].0.options.body else { continue }
            let name = engine.housekeeping.requestBodies.newName(body.source)
            for (number, file) in body.files.enumerated() {
                guard !file.isAbsent else {
                    let failure = Failure(
                        .bodyUnavailable, "the body's file \(file.path) is not there", index: UInt64(position))
                    return refuse(failure)
                }
                let fileName = body.files.count == 1 ? name : "\(name).\(number)"
                ingested.append(IngestedBody(file, body.source, name: fileName))
                owners.append(position)
            }
        }
        let names = ingested.filter { $0.source != .reference }.map(\.name)
        let kept = engine.runtime.returning { [ingested, owners] (result: Result<[BodyFile], Failure>) in
            guard call.isConnected else {
                engine.housekeeping.requestBodies.discardUnused(names)
                return []
            }
            switch result {
            case .failure(var failure):
                // The removal of the files may have failed, too.
                engine.housekeeping.requestBodies.discardUnused(names)
                failure.index = failure.index.flatMap { owners.indices.contains(Int($0)) ? owners[Int($0)] : nil }
                    .map(UInt64.init)
                refuse(failure)
            case .success(let files):
                insert(
                    items, into: session,
                    bodies: IngestedBodies(
                        ingested: ingested, files: files, positions: owners))
            }
            return []
        }
        engine.services.disk.ingest(
            ingested, in: engine.services.directory.bodiesPath, forbidden: engine.base.files.folders, then: kept)
    }

    private func refuse(_ failure: Failure) {
        call.connection.reply(call.sequence, .failed(failure))
        engine.receiver.bodiesIngested(by: call.connection)
    }

    private func insert(_ items: [(Request, Origin)], into session: SessionID, bodies: IngestedBodies) {
        // Also the paths of a repeated command, whose files were taken before.
        let consumed = items.flatMap(\.0.consumedPaths)
        let items = bodies.applied(to: items)
        TaskCommands(call: call).insert(
            items, into: session,
            with: { (transaction, results) throws(Failure) in
                let isNew = { (position: Int) in
                    results.indices.contains(position) && results[position].disposition == .new
                }
                try transaction.bodies.recordConsumed(bodies.consumed(where: isNew))
            },
            beforeReply: { reply in
                let replyAndContinue = {
                    reply()
                    if call.isConnected { engine.receiver.bodiesIngested(by: call.connection) }
                }
                engine.housekeeping.requestBodies.discardUnused(bodies.names)
                // This also serves a repeated command: an earlier engine may have ended before it removed the old
                // names.
                guard !consumed.isEmpty else { return replyAndContinue() }
                engine.housekeeping.requestBodies.removeConsumed(at: consumed) {
                    replyAndContinue()
                    return []
                }
            })
    }
}

/// The files that were taken into the store for one enqueue, a command that stores requests as tasks.
struct IngestedBodies: Sendable {
    var ingested: [IngestedBody] = []
    /// The files that the transfers read, in the order of `ingested`.
    var files: [BodyFile] = []
    /// For each file: the position of the request to which the file belongs.
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

    /// The files that new tasks have consumed, as the client has seen them, with their file systems.
    func consumed(where isNew: (Int) -> Bool) -> [BodyFile] {
        ingested.indices.filter { ingested[$0].source == .consume && isNew(positions[$0]) }.map { index in
            var file = ingested[index].file
            file.fileSystem = files[index].fileSystem
            return file
        }
    }
}

extension Request {
    /// The paths of the files that the engine takes from the program.
    fileprivate var consumedPaths: [String] {
        guard hasOptions, let body = options.body, body.source == .consume else { return [] }
        return body.files.map(\.path)
    }
}
