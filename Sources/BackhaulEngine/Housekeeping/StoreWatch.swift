internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Notices that the store's socket was removed, or that the whole store was moved or deleted.
///
/// Each store has one. Only a daemon ends when its store is gone. The store of an embedded engine is left to its host.
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
            // The limits of inotify are small, and all programs of a user share them. Everything else works without it.
            let what = "its deletion, and that of its socket, will go unnoticed"
            services.options.log(LogEntry(.warning, "\(error.description); \(what)"))
        }
    }

    func close() { watch?.cancel() }
}
