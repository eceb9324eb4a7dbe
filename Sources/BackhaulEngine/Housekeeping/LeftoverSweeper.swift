internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Removes leftovers, which are files that no task needs any more. Some leftovers are the unfinished files of cancelled
/// downloads. Others are kept files: finished downloads in the store, the directory of the engine's data. A kept file
/// becomes a leftover if the host (the program that embeds the library) confirms the end of the download before it
/// moves the file out of the store.
///
/// Each engine has one object of this type. The transaction that makes a file unnecessary also lists it as a leftover,
/// so that the file is removed even after a crash.
final class LeftoverSweeper {
    private static let batchSize = 256

    private let runtime: any Runtime
    private let disk: DiskThreads
    private let path: (Leftover) -> String
    private let isInUse: (Leftover) -> Bool
    private(set) var isSweeping = false

    /// - path: returns the path of the file.
    /// - isInUse: whether a running download still uses the file. If so, the download removes the file itself, and a
    ///   sweep follows.
    init(
        _ runtime: any Runtime, _ disk: DiskThreads, path: @escaping (Leftover) -> String,
        isInUse: @escaping (Leftover) -> Bool
    ) {
        self.runtime = runtime
        self.disk = disk
        self.path = path
        self.isInUse = isInUse
    }

    func sweep() {
        guard !isSweeping else { return }
        isSweeping = true
        runtime.store({ (transaction) throws(Failure) in
            try transaction.leftovers.all(limit: Self.batchSize)
        }, then: { [unowned self] result in remove((try? result.get()) ?? []) })
    }

    private func remove(_ leftovers: [Leftover]) -> [EngineEffect] {
        let removable = leftovers.filter { !isInUse($0) }
        guard !removable.isEmpty else {
            isSweeping = false
            return [.mayBeIdle]
        }
        // A file that cannot be removed is forgotten, too: probably its directory cannot be reached any more, so a
        // retry would fail as well.
        disk.remove(removable.map(path), then: runtime.returning { [unowned self] in
            forget(removable)
            return []
        })
        return []
    }

    private func forget(_ removed: [Leftover]) {
        runtime.store({ (transaction) throws(Failure) in
            try transaction.leftovers.forget(removed)
        }, then: { [unowned self] result in
            isSweeping = false
            guard case .success = result else { return [.mayBeIdle] }
            sweep()
            return []
        })
    }
}
