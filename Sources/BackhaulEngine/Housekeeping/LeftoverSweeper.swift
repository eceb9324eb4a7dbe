internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Removes leftovers, which are files that no task needs any more. Some leftovers are the unfinished files of cancelled
/// downloads. Others are kept files: finished downloads in the store, the directory of the engine's data. A kept file
/// becomes a leftover if the host confirms the end of the download before it moves the file out of the store, or if the
/// download is cancelled while the file gets its name. If an engine ended while it copied a kept file to another file
/// system, the copy becomes a leftover, too. A retained part is removed when its time is over.
///
/// Each engine has one object of this type. The transaction that makes a file unnecessary also lists it as a leftover,
/// so that the file is removed even after a crash. If a file cannot be removed, for example because its file system is
/// mounted read-only, it stays in the list. It is tried again when the mounts change, and by the next engine.
final class LeftoverSweeper {
    /// What the sweeper needs of the engine.
    struct Surroundings {
        /// Whether a running download still uses the file. If so, a sweep follows when the download has stopped.
        var isInUse: (Leftover) -> Bool
        var remove: (Leftover, _ then: @escaping (Result<Void, Failure>) -> [EngineEffect]) -> Void
        /// Watches the mounts until the result is released; nil if that is not possible.
        var watchMounts: (_ changed: @escaping () -> [EngineEffect]) -> AnyObject?
    }

    private static let batchSize = 256
    /// The longest wait for the disks to remove a batch, in milliseconds. A file system that does not respond does not
    /// delay the removal of other files longer.
    private static let batchMilliseconds: Int64 = 10_000

    private let runtime: any Runtime
    private let surroundings: Surroundings
    /// The files that could not be removed since the last change of the mounts.
    private var failed: Set<Leftover> = []
    private var mountWatch: AnyObject?
    private lazy var timer = runtime.timer { [unowned self] in
        sweep()
        return []
    }
    /// The files whose removal has no result yet.
    private var pending: Set<Leftover> = []
    /// The files for which the sweep waits, those of them that were removed, and the last file of their page.
    private var batch: (waiting: Set<Leftover>, removed: [Leftover], last: Leftover)?
    private lazy var batchTimer = runtime.timer { [unowned self] in
        endBatch()
        return []
    }
    /// Whether the present sweep must be followed by another one, because more leftovers may be in the list.
    private var mustRepeat = false
    private(set) var isSweeping = false

    init(_ runtime: any Runtime, _ surroundings: Surroundings) {
        (self.runtime, self.surroundings) = (runtime, surroundings)
    }

    func close() {
        mountWatch = nil
        timer.stop()
        batchTimer.stop()
    }

    func sweep() {
        mustRepeat = isSweeping
        guard !isSweeping else { return }
        isSweeping = true
        readNext(after: nil)
    }

    private func readNext(after last: Leftover?) {
        runtime.store(
            { [clocks = runtime.clocks] (transaction) throws(Failure) in
                try transaction.leftovers.page(after: last, now: clocks.wallMilliseconds, limit: Self.batchSize)
            },
            then: { [unowned self] result in
                guard case .success(let page) = result else { return end() }
                plan(page.nextRemoval)
                return remove(page.files)
            })
    }

    /// Starts the timer for the end of the time of a retained part. The clock may be set meanwhile, so it is read again
    /// after a day at most.
    private func plan(_ nextRemoval: Int64?) {
        guard let nextRemoval, !timer.isRunning else { return }
        timer.start(milliseconds: min(max(1_000, nextRemoval - runtime.clocks.wallMilliseconds), 86_400_000))
    }

    private func remove(_ leftovers: [Leftover]) -> [EngineEffect] {
        guard let last = leftovers.last else { return end() }
        let removable = leftovers.filter {
            !failed.contains($0) && !pending.contains($0) && !surroundings.isInUse($0)
        }
        guard !removable.isEmpty else {
            readNext(after: last)
            return []
        }
        batchTimer.start(milliseconds: Self.batchMilliseconds)
        batch = (Set(removable), [], last)
        pending.formUnion(removable)
        for file in removable {
            surroundings.remove(file) { [unowned self] result in
                take(result, of: file)
                return []
            }
        }
        return []
    }

    private func take(_ result: Result<Void, Failure>, of file: Leftover) {
        pending.remove(file)
        let isRemoved = if case .success = result { true } else { false }
        if !isRemoved { failed.insert(file) }
        guard batch?.waiting.remove(file) != nil else {
            if isRemoved { forget([file]) { _ in [] } }
            return
        }
        if isRemoved { batch?.removed.append(file) }
        if batch?.waiting.isEmpty == true { endBatch() }
    }

    private func endBatch() {
        guard let (_, removed, last) = batch else { return }
        batch = nil
        batchTimer.stop()
        forget(removed) { [unowned self] isForgotten in
            guard isForgotten else { return end() }
            readNext(after: last)
            return []
        }
    }

    private func forget(_ removed: [Leftover], then: @escaping (_ isForgotten: Bool) -> [EngineEffect]) {
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.leftovers.forget(removed)
            },
            then: { result in
                if case .success = result { then(true) } else { then(false) }
            })
    }

    private func end() -> [EngineEffect] {
        isSweeping = false
        if mustRepeat { sweep() }
        if failed.isEmpty {
            mountWatch = nil
        } else if mountWatch == nil {
            mountWatch = surroundings.watchMounts { [unowned self] in
                failed = []
                sweep()
                return []
            }
        }
        return [.mayBeIdle]
    }
}
