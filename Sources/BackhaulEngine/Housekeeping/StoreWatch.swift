internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Notices that the store's socket was removed, or that the store as a whole was moved or deleted.
///
/// Each store has one. Only a daemon ends when its store is gone: a host knows what it does with a store of its own.
final class StoreWatch {
    private var watch: (any RuntimeWatch)?

    init(_ runtime: any Runtime, _ services: Services) {
        do {
            let directory = try DirectoryWatch(services.directory)
            watch = try runtime.watch(directory.number) {
                let displacement = directory.displacementNow()
                if let displacement, services.options.isDaemon { return [.fail(displacement)] }
                return [.storeDirectoryChanged]
            }
        } catch {
            // Limits of inotify are small and shared by all programs of a user; without it everything else works.
            let what = "its deletion, and that of its socket, will go unnoticed"
            services.options.log(LogEntry(.warning, "\(error.description); \(what)"))
        }
    }

    func close() { watch?.cancel() }
}
