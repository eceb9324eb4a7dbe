internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Manages the files of request bodies (the data of uploads) in the store. Makes names for new bodies that no other
/// engine has used. Removes bodies that no upload needs any more.
///
/// A *consumed* file is a body that a program has handed over as a file: the engine gives the file a name in the store,
/// and removes its old name. If the upload does not succeed, this object moves the file back to its old path.
///
/// Each engine has one object of this type.
final class RequestBodyManager {
    private static let batchSize = 256

    private let runtime: any Runtime
    private let disk: DiskThreads
    private let directory: StoreDirectory
    private let log: @Sendable (LogEntry) -> Void
    /// The prefix of this engine's names. It is random, so that it differs from the prefixes of earlier engines.
    private let prefix: String
    private var lastNumber: UInt64 = 0
    /// The files that the next transaction of `discardUnused` checks. Only one such transaction runs at a time, so that
    /// a full disk causes the retries of one, and not of many.
    private var unused: [String] = []
    private var isDiscarding = false
    private var isSweeping = false
    /// Whether the present sweep must be followed by another one, because it may have missed leftovers.
    private var mustRepeat = false
    private var isReturning = false
    /// The closures that are called at the end of the present pass. A pass moves consumed files back to their old
    /// paths.
    private var waiting: [() -> [EngineEffect]] = []
    /// The closures that are called at the end of the next pass. They wait for files that the present pass may have
    /// missed.
    private var waitingForNextPass: [() -> [EngineEffect]] = []
    /// Whether some files could not be returned. Each sweep tries again to return them.
    private var hasUnreturned = false
    /// The files whose failure is logged already.
    private var logged: Set<String> = []

    init(_ runtime: any Runtime, _ services: Services) {
        self.runtime = runtime
        prefix = String(runtime.random(), radix: 16) + "-"
        disk = services.disk
        directory = services.directory
        log = services.options.log
    }

    /// Drops the waiting call-backs.
    func close() { (waiting, waitingForNextPass) = ([], []) }

    var isBusy: Bool { isSweeping || isReturning }

    func newName(_ source: BodySource) -> String {
        lastNumber += 1
        return BodyName.make(prefix, lastNumber, source)
    }

    // MARK: Removal

    /// Handles the files of an earlier engine: files without a task, and old names of files that are in the store.
    func sweepAtStart() {
        returnBodies()
        disk.names(
            in: directory.bodiesPath,
            then: runtime.returning { [unowned self] names in
                // Files of this engine are left out, because they may belong to tasks that are not in the store yet.
                quarantineUnknown(names.filter { !$0.hasPrefix(prefix) && $0 != BodyName.lost })
                return []
            })
        sweep()
    }

    /// Moves unknown files to the directory for lost files, and logs this. The files are not removed, because the
    /// database may have been lost or replaced by an old copy.
    private func quarantineUnknown(_ names: [String]) {
        guard !names.isEmpty else { return }
        runtime.storeWithRetry(
            { (transaction) throws(Failure) in
                try transaction.bodies.unknown(among: names)
            },
            then: { [unowned self] unknown in
                disk.quarantine(
                    unknown, in: directory.bodiesPath,
                    then: runtime.returning { [unowned self] moved in
                        if moved > 0 { logLost(moved) }
                        return []
                    })
                return []
            })
    }

    private func logLost(_ count: Int) {
        let (files, verb) = count == 1 ? ("1 file", "was") : ("\(count) files", "were")
        let path = directory.bodiesPath + "/" + BodyName.lost
        let message = "\(files) that the database does not know \(verb) moved to \(path); see `backhaul doctor`"
        log(LogEntry(.error, message))
    }

    /// Removes each named file that no task needs. If the store fails, retries later, because a file that the database
    /// does not know would otherwise stay until the next engine starts.
    func discardUnused(_ names: [String]) {
        unused += names
        guard !isDiscarding, !unused.isEmpty else { return }
        isDiscarding = true
        let names = unused
        unused = []
        runtime.storeWithRetry(
            { (transaction) throws(Failure) in
                try transaction.bodies.addLeftovers(among: names)
            },
            then: { [unowned self] _ in
                isDiscarding = false
                discardUnused([])
                sweep()
                return []
            })
    }

    /// Removes the files that no task needs. A file that cannot be removed stays in the list, and each sweep tries to
    /// remove it again.
    func sweep() {
        if hasUnreturned { returnBodies() }
        mustRepeat = isSweeping
        guard !isSweeping else { return }
        isSweeping = true
        removeLeftovers(after: "")
    }

    private func removeLeftovers(after name: String) {
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.bodies.leftovers(after: name, limit: Self.batchSize)
            }, then: { [unowned self] result in remove((try? result.get()) ?? []) })
    }

    private func remove(_ names: [String]) -> [EngineEffect] {
        guard let last = names.last else { return endSweep() }
        disk.remove(
            names.map(directory.bodyFile),
            then: runtime.returning { [unowned self] (removed: Set<String>) in
                forget(names.filter { removed.contains(directory.bodyFile(named: $0)) }, through: last)
                return []
            })
        return []
    }

    private func forget(_ names: [String], through last: String) {
        guard !names.isEmpty else { return removeLeftovers(after: last) }
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.bodies.forgetLeftovers(names)
            },
            then: { [unowned self] result in
                guard case .success = result else { return endSweep() }
                removeLeftovers(after: last)
                return []
            })
    }

    private func endSweep() -> [EngineEffect] {
        isSweeping = false
        if mustRepeat { sweep() }
        return [.mayBeIdle]
    }

    /// Removes the old names of the consumed files at these paths, and then calls `then`. If a name cannot be removed
    /// now, the removal is tried again when files are returned, and when the next engine starts.
    func removeConsumed(at paths: [String], then: @escaping () -> [EngineEffect]) {
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.bodies.consumed(at: paths)
            }, then: { [unowned self] result in removeNames(of: result) { _ in then() } })
    }

    /// Removes the old names of all consumed files, in batches, and then calls `then`.
    private func removeConsumed(after path: String = "", then: @escaping () -> [EngineEffect]) {
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.bodies.consumed(after: path, limit: Self.batchSize)
            },
            then: { [unowned self] result in
                removeNames(of: result) { [unowned self] last in
                    guard let last else { return then() }
                    removeConsumed(after: last, then: then)
                    return []
                }
            })
    }

    /// Calls `then` with the last path; nil if there are no files, or if the store cannot be used now.
    private func removeNames(
        of found: Result<[BodyFile], Failure>, then: @escaping (String?) -> [EngineEffect]
    ) -> [EngineEffect] {
        guard case .success(let files) = found, let last = files.last?.path else { return then(nil) }
        disk.removeConsumed(
            files,
            then: runtime.returning { [unowned self] done in
                runtime.store(
                    { (transaction) throws(Failure) in
                        try transaction.bodies.forgetConsumed(done)
                    },
                    then: { result in
                        if case .success = result { then(last) } else { then(nil) }
                    })
                return []
            })
        return []
    }

    // MARK: Return of consumed files

    /// Returns consumed files to their old paths if two conditions are met: the upload of the file did not succeed, and
    /// the program has confirmed that it knows this result. When the engine has tried to return all files that are
    /// listed now, calls `then`.
    func returnBodies(then: @escaping () -> [EngineEffect] = { [] }) {
        guard !isReturning else { return waitingForNextPass.append(then) }
        isReturning = true
        hasUnreturned = false
        waiting = [then]
        startReturnPass()
    }

    private func startReturnPass() {
        // Old names are removed first. A returned file gets its old name again, and a later removal of old names would
        // remove the returned file.
        removeConsumed { [unowned self] in
            returnBodies(after: "")
            return []
        }
    }

    private func returnBodies(after name: String) {
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.bodies.bodiesToReturn(after: name, limit: Self.batchSize)
            },
            then: { [unowned self] result in
                guard case .success(let bodies) = result, let last = bodies.last?.name else { return endReturnPass() }
                disk.returnBodies(
                    bodies, from: directory.bodiesPath,
                    then: runtime.returning { [unowned self] outcomes in
                        bodiesReturned(outcomes, through: last)
                        return []
                    })
                return []
            })
    }

    private func bodiesReturned(_ outcomes: [(body: ReturnedBody, failure: Failure?)], through name: String) {
        for case (let body, let failure?) in outcomes { note(failure, of: body) }
        let done = outcomes.filter { $0.failure == nil }.map(\.body.name)
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.bodies.forgetReturned(done)
            },
            then: { [unowned self] _ in
                returnBodies(after: name)
                return []
            })
    }

    private func note(_ failure: Failure, of body: ReturnedBody) {
        hasUnreturned = true
        guard logged.insert(body.name).inserted else { return }
        let place = directory.bodyFile(named: body.name)
        log(
            LogEntry(
                .warning,
                "the file \(body.path), which task \(body.task.rawValue) has consumed, cannot be given back and "
                    + "stays at \(place) until it can: \(failure.message)"))
    }

    private func endReturnPass() -> [EngineEffect] {
        let finished = waiting
        waiting = waitingForNextPass
        waitingForNextPass = []
        isReturning = !waiting.isEmpty
        if isReturning { startReturnPass() }
        let effects = finished.flatMap { $0() }
        return isReturning ? effects : effects + [.mayBeIdle]
    }
}
