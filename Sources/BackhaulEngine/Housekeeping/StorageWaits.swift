internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The tasks whose file system or directory is away. They are released when a file system is mounted, or when a missing
/// directory is made.
///
/// Each engine has one object of this type.
final class StorageWaits {
    /// The shortest time between two releases. Many tasks may wait, and another program may make many directories.
    private static let pauseMilliseconds: Int64 = 500
    /// The limit of watched directories. The tasks of other directories are also released by each change.
    private static let directoryLimit = 16

    private let runtime: any Runtime
    private let disk: DiskThreads
    private var mountWatch: MountWatch?
    /// The watches, by the missing directory for which tasks wait.
    private var directories: [String: any RuntimeWatch] = [:]
    private lazy var timer = runtime.timer { [unowned self] in
        release()
        return []
    }

    init(_ runtime: any Runtime, _ disk: DiskThreads) { (self.runtime, self.disk) = (runtime, disk) }

    func close() {
        mountWatch = nil
        for watch in directories.values { watch.cancel() }
        directories = [:]
        timer.stop()
    }

    /// Watches for the return of the file at this path.
    func watch(_ path: String) {
        if mountWatch == nil { mountWatch = MountWatch(runtime) { [unowned self] in changed() } }
        let directory = Destination.directory(of: path)
        guard directories[directory] == nil, directories.count < Self.directoryLimit else { return }
        disk.watchMissing(
            directory,
            then: runtime.returning { [weak self] (found: (directory: Inotify, name: String)?) in
                guard let self, let found, directories[directory] == nil else { return [] }
                directories[directory] = try? runtime.watch(found.directory.number, .readable) { [weak self] in
                    found.directory.takeNames().contains(found.name) ? self?.changed() ?? [] : []
                }
                return []
            })
    }

    private func changed() -> [EngineEffect] {
        if !timer.isRunning { timer.start(milliseconds: Self.pauseMilliseconds) }
        return []
    }

    /// Releases all tasks. A task whose storage is still away waits again after its attempt.
    func release() {
        close()
        runtime.store(
            { (transaction) throws(Failure) in try transaction.delays.releaseStorage() },
            then: { result in
                guard case .success(let released) = result else { return [] }
                return [
                    .finish(released.complete),
                    .tasksWait(in: released.lanes, reload: false, priority: released.priority),
                ]
            })
    }
}
