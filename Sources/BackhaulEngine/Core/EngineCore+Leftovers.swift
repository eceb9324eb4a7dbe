internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Files that no task needs any more: part files of cancelled tasks, kept files that were acknowledged unclaimed. The
/// transaction that made them superfluous lists them, so that a crash leaves none behind.
extension EngineCore {
    private static let atATime = 256

    func sweepLeftovers() {
        guard !isSweeping else { return }
        isSweeping = true
        store({ (transaction) throws(Failure) in
            try transaction.leftovers(limit: Self.atATime)
        }, then: { core, result in core.remove((try? result.get()) ?? []) })
    }

    private func remove(_ leftovers: [Leftover]) {
        // A running download still holds its own part file, removes it itself and asks for another sweep.
        let removable = leftovers.filter { leftover in
            (runners[leftover.task] as? DownloadRunner)?.task.part != leftover.part
        }
        guard !removable.isEmpty else {
            isSweeping = false
            return
        }
        let paths = removable.map { leftover in
            switch leftover.kind {
            case .part(let path):
                (path.map(Destination.directory(of:)) ?? services.directory.keptPath) + "/"
                    + Self.partName(tag: tag, leftover.task, leftover.part)
            case .kept: services.directory.keptFile(of: leftover.task)
            }
        }
        let outbox = services.outbox
        let left = Lock(paths.count)
        for path in paths {
            // What cannot be removed is not tried for ever: its directory is out of our reach by now.
            services.disk.remove(path: path) { _ in
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast { outbox.post { core in core.forget(removable) } }
            }
        }
    }

    private func forget(_ removed: [Leftover]) {
        store({ (transaction) throws(Failure) in try transaction.forgetLeftovers(removed) }, then: { core, result in
            core.isSweeping = false
            if case .success = result { core.sweepLeftovers() }
        })
    }
}
