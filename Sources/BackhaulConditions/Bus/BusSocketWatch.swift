internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Watches the path of a bus's socket with inotify(7) while the bus cannot be reached. If the socket's directory does
/// not exist, the nearest existing directory above it is watched.
final class BusSocketWatch {
    /// The longest part of the path that exists, and the identity of the file at its end. Each relevant change of the
    /// path changes this value.
    private struct Found: Equatable {
        var path: String
        var device: UInt64
        var inode: UInt64
        /// The nanoseconds of the socket's change time; 0 for a directory. A change of permissions also changes this
        /// time. Another file with the same inode number has another time.
        var changed: Int
    }

    private let path: String
    private let watch: Inotify
    private var found: Found?

    /// Returns nil if no directory can be watched.
    init?(path: String) {
        guard let inotify = try? Inotify("cannot watch the bus") else { return nil }
        self.path = path
        watch = inotify
        check()
        if !watch.isWatching { return nil }
    }

    /// A descriptor that is readable when the watched directory has changed.
    var number: Int32 { watch.number }

    /// Reads the changes. Returns true if they affect the bus.
    func takeChanges() -> Bool {
        // The content of the events does not matter, so lost events of a full queue do no harm.
        guard !watch.takeNames().isEmpty else { return false }
        let before = found
        check()
        return found != before
    }

    private func check() {
        // The path may change between the check and the new watch. So these steps are repeated until the path has not
        // changed.
        for _ in 0..<16 {
            let now = BusSocketWatch.nearest(to: path)
            if now == found { return }
            found = now
            guard let now else { return }
            let own = BusSocketWatch.directory(of: path)
            let directory = now.path == path ? own : now.path
            // Changes of attributes are watched only in the socket's own directory. In directories further up, such
            // changes may be frequent.
            let attributes = directory == own ? IN_ATTRIB : 0
            _ = watch.watch(
                directory,
                for: Int32(IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | attributes))
        }
    }

    private static func nearest(to whole: String) -> Found? {
        var path = whole
        while true {
            var status = stat()
            if stat(path, &status) == 0 {
                return Found(
                    path: path, device: bhl_device(&status), inode: UInt64(status.st_ino),
                    changed: path == whole ? status.st_ctim.tv_nsec : 0)
            }
            if path == "/" { return nil }
            path = directory(of: path)
        }
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
