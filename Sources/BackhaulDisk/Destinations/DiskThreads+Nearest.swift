internal import BackhaulModel
public import BackhaulPlatform
internal import Glibc

extension DiskThreads {
    /// Watches for a missing directory: the nearest existing directory above it, and the name that is missing there.
    /// `then` gets nil if the directory exists, or if no directory can be watched.
    public func watchMissing(
        _ path: String, then: @escaping @Sendable ((directory: Inotify, name: String)?) -> Void
    ) {
        worker(for: path).post { context in
            guard let inotify = try? Inotify("cannot watch a directory") else { return then(nil) }
            var (path, name) = (path, "")
            while (try? context.files.status(of: path)) ?? nil == nil, path != "/" {
                let split = SplitPath(path)
                (path, name) = (split.directory, split.name)
            }
            let events = Int32(IN_CREATE | IN_MOVED_TO | IN_ONLYDIR)
            then(!name.isEmpty && inotify.watch(path, for: events) ? (inotify, name) : nil)
        }
    }
}
