internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Notices that the store's socket was removed, or that the whole store was moved or deleted.
///
/// Each engine has one object of this type. When the store is moved or deleted, a daemon ends. An engine that is
/// embedded in another program continues, because this program decides about the store.
final class StoreWatch {
    private var watch: (any RuntimeWatch)?

    init(_ runtime: any Runtime, _ services: Services) {
        do {
            let directory = try DirectoryWatch(services.directory)
            watch = try runtime.watch(directory.number) {
                let replacementFailure = directory.readReplacementFailure()
                if let replacementFailure, services.options.isDaemon { return [.fail(replacementFailure)] }
                return [.storeDirectoryChanged]
            }
        } catch {
            // The limits of inotify are small, and all programs of a user share them. The engine works without this
            // watch.
            let what = "the engine will not notice that the store or its socket is deleted"
            services.options.log(LogEntry(.warning, "\(error.description); \(what)"))
        }
    }

    func close() { watch?.cancel() }
}
