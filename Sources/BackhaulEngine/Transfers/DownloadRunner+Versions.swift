internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulStore

/// The version of a file that is at the destination: looked up before it is fetched again, remembered when placed.
extension DownloadRunner {
    func lookForVersion() {
        let (id, attempt) = (task.id, attempt)
        let (session, path, url) = (task.session, location.destination.path, task.request.url)
        core.store({ (transaction) throws(Failure) in
            try transaction.version(at: path, of: url, in: session)
        }, then: { core, result in
            guard let runner = core.transfers.runner(id, attempt) as? DownloadRunner else { return }
            // Without it everything is fetched, which is never wrong.
            guard case .success(let known?) = result else { return runner.handle(.lookedForVersion(nil)) }
            runner.known = known
            runner.lookAtKnown { .lookedForVersion($0 ? known.version : nil) }
        })
    }

    /// Whether the file at the destination is still the one that is known.
    func lookAtKnown(_ event: @escaping @Sendable (Bool) -> DownloadMachine.Event) {
        guard let known else { return handle(event(false)) }
        let stamp = FileStamp(
            inode: known.inode, size: known.version.size, modifiedNanoseconds: known.modifiedNanoseconds)
        core.services.disk.look(location.destination, for: stamp, then: disk { event($0) })
    }

    func place(_ intent: FinishIntent) {
        let (outbox, id, attempt) = (core.services.outbox, task.id, attempt)
        part.place(intent) { result in
            outbox.post { core in
                guard let runner = core.transfers.runner(id, attempt) as? DownloadRunner else { return }
                switch result {
                case .success(let stamp):
                    runner.placed = stamp
                    runner.handle(.placed)
                case .failure(let failure): runner.handle(.diskFailed(failure))
                }
            }
        }
    }

    /// Only for requests that ask for it: it costs the others nothing.
    func recordVersion() -> (@Sendable (Transaction) throws(Failure) -> Void)? {
        guard task.request.hasOptions, task.request.options.isOnlyIfChanged, let placed else { return nil }
        let (id, session, path, url) = (task.id, task.session, location.destination.path, task.request.url)
        return { (transaction) throws(Failure) in
            try transaction.recordVersion(
                of: id, at: path, of: url, in: session, inode: placed.inode, size: placed.size,
                modifiedNanoseconds: placed.modifiedNanoseconds)
        }
    }
}
