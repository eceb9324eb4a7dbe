internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The store's folder of request bodies: names that no two engines give, and what no task needs any more.
extension EngineCore {
    private static let atATime = 256

    func newBodyName(_ source: BodySource) -> String {
        lastBody += 1
        return BodyName.make(bodyPrefix, UInt64(lastBody), source)
    }

    /// What an engine that ended has left: files without a task, and old names of files that are in the store.
    func sweepBodiesAtStart() {
        giveBodiesBack()
        let (outbox, prefix) = (services.outbox, bodyPrefix)
        services.disk.names(in: services.directory.bodiesPath) { names in
            // Ours may belong to tasks that are being made.
            let others = names.filter { !$0.hasPrefix(prefix) && $0 != BodyName.lost }
            outbox.post { core in core.setAsideUnknown(others) }
        }
        sweepBodies()
    }

    /// The database may have been lost, or be an old copy of itself: what it does not know is not removed.
    private func setAsideUnknown(_ names: [String]) {
        guard !names.isEmpty else { return }
        storeUntilDone({ (transaction) throws(Failure) in
            try transaction.unknownBodies(among: names)
        }, then: { core, unknown in
            core.services.disk.setAside(unknown, in: core.services.directory.bodiesPath) {}
        })
    }

    /// Those of the names that no task needs are removed.
    func discardUnused(_ names: [String]) {
        guard !names.isEmpty else { return }
        store({ (transaction) throws(Failure) in try transaction.leaveBodies(among: names) }, then: { core, _ in
            core.sweepBodies()
        })
    }

    func sweepBodies() {
        if bodyReturns.isSomethingLeft { giveBodiesBack() }
        guard !isSweepingBodies else { return }
        isSweepingBodies = true
        store({ (transaction) throws(Failure) in
            try transaction.bodyLeftovers(limit: Self.atATime)
        }, then: { core, result in core.removeBodies((try? result.get()) ?? []) })
    }

    private func removeBodies(_ names: [String]) {
        guard !names.isEmpty else {
            isSweepingBodies = false
            return
        }
        let outbox = services.outbox
        let left = Lock(names.count)
        for name in names {
            services.disk.remove(path: services.directory.bodyFile(named: name)) { _ in
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast { outbox.post { core in core.forgetBodies(names) } }
            }
        }
    }

    private func forgetBodies(_ names: [String]) {
        store({ (transaction) throws(Failure) in try transaction.forgetBodyLeftovers(names) }, then: { core, result in
            core.isSweepingBodies = false
            if case .success = result { core.sweepBodies() }
        })
    }

    /// `then` is called when no consumed file has its old name any more. What cannot be removed now is tried again with
    /// the next consumed file, and by the next engine.
    func removeConsumed(after path: String = "", then: @escaping @Sendable (EngineCore) -> Void) {
        store({ (transaction) throws(Failure) in
            try transaction.consumed(after: path, limit: Self.atATime)
        }, then: { core, result in
            guard case .success(let files) = result, !files.isEmpty else { return then(core) }
            let outbox = core.services.outbox
            let last = files.last?.path ?? ""
            core.services.disk.removeConsumed(files) { done in
                outbox.post { core in
                    core.store({ (transaction) throws(Failure) in
                        try transaction.forgetConsumed(done)
                    }, then: { core, result in
                        if case .success = result { core.removeConsumed(after: last, then: then) } else { then(core) }
                    })
                }
            }
        })
    }

    /// The next enqueue of this client may come.
    func bodiesTaken(by connection: ClientConnection) {
        connection.isTakingBodies = false
        while !connection.isTakingBodies, let message = connection.takeHeldEnqueue() {
            received(message, from: connection.id)
        }
    }
}
