internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// A socket that is removed under a running engine, and a store that is moved or deleted under a running daemon. An
/// engine inside of a host is not concerned by the latter: the host knows what it does with a store of its own.
extension EngineCore {
    func watchStore() {
        do {
            let watch = try DirectoryWatch(services.directory)
            storeWatch = try loop.watch(watch.number, .readable) { [unowned self] _ in
                let displacement = watch.displacementNow()
                if let displacement, services.options.isDaemon { return fail(displacement) }
                server?.mendSoon()
            }
        } catch {
            // Limits of inotify are small and shared by all programs of a user; without it everything else works.
            let what = "its deletion, and that of its socket, will go unnoticed"
            services.options.log(LogEntry(.warning, "\(error.description); \(what)"))
        }
    }
}
