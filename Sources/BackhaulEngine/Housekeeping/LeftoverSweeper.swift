internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Removes leftovers, which are files that no task needs any more. Some leftovers are the unfinished files of cancelled
/// downloads. Others are kept files: finished downloads in the store, the directory of the engine's data. A kept file
/// becomes a leftover if the host confirms the end of the download before it moves the file out of the store. A
/// retained part is removed when its time is over.
///
/// Each engine has one object of this type. The transaction that makes a file unnecessary also lists it as a leftover,
/// so that the file is removed even after a crash. If a file cannot be removed, for example because its file system is
/// mounted read-only, it stays in the list. It is tried again when the mounts change, and by the next engine.
final class LeftoverSweeper {
    /// What the sweeper needs of the engine.
    struct Surroundings {
        var path: (Leftover) -> RemovedFile
        /// Whether a running download still uses the file. If so, the download removes the file itself, and a sweep
        /// follows.
        var isInUse: (Leftover) -> Bool
        /// Removes files. `then` gets the positions of those that could not be removed. The returned function ends the
        /// wait for slow disks: the files without a result then count as not removed.
        var remove: ([RemovedFile], _ then: @escaping (Set<Int>) -> [EngineEffect]) -> () -> Void
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
    private var endWait: (() -> Void)?
    private lazy var batchTimer = runtime.timer { [unowned self] in
        endWait?()
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
        let removable = leftovers.filter { !failed.contains($0) && !surroundings.isInUse($0) }
        guard !removable.isEmpty else {
            readNext(after: last)
            return []
        }
        batchTimer.start(milliseconds: Self.batchMilliseconds)
        endWait = surroundings.remove(removable.map(surroundings.path)) { [unowned self] failedPositions in
            batchTimer.stop()
            for position in failedPositions { failed.insert(removable[position]) }
            forget(removable.filter { !failed.contains($0) }, then: last)
            return []
        }
        return []
    }

    private func forget(_ removed: [Leftover], then last: Leftover) {
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.leftovers.forget(removed)
            },
            then: { [unowned self] result in
                guard case .success = result else { return end() }
                readNext(after: last)
                return []
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
