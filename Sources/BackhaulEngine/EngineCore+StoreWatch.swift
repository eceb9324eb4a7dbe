internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// A store that is moved or deleted under a running daemon. An engine inside of a host is not concerned: the host knows
/// what it does with a store of its own.
extension EngineCore {
    func watchStore() {
        guard services.options.isDaemon else { return }
        do {
            let watch = try DirectoryWatch(services.directory)
            storeWatch = try loop.watch(watch.number, .readable) { [unowned self] _ in
                if let failure = watch.failureNow() { fail(failure) }
            }
        } catch {
            // Limits of inotify are small and shared by all programs of a user; without it everything else works.
            services.options.log(LogEntry(.warning, "\(error.description); its deletion will go unnoticed"))
        }
    }
}
