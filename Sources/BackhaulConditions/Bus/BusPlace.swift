internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Watches the place in the file system where a bus listens or will listen, while it cannot be reached (inotify(7)). It
/// watches the nearest directory that exists.
final class BusPlace {
    /// The part of the path that exists, and the file at its end. Each relevant change makes another value.
    private struct Found: Equatable {
        var path: String
        var device: UInt64
        var inode: UInt64
        /// The change time of the socket itself. Its permissions matter too, and inode numbers are reused.
        var changed: Int
    }

    private let path: String
    private let watch: Descriptor
    private var watched: Int32 = -1
    private var found: Found?

    /// Nil if nothing can be watched.
    init?(path: String) {
        let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { return nil }
        self.path = path
        watch = Descriptor(owning: number)
        look()
        if watched < 0 { return nil }
    }

    /// Readable when the watched directory has changed.
    var number: Int32 { watch.number }

    /// Reads the changes. Returns true if they affect the bus.
    func takeChanges() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var hasAny = false
        // Only the existence of a change matters, so overflows and lost names have no effect.
        while watch.isOurs, read(watch.number, &buffer, buffer.count) > 0 { hasAny = true }
        guard hasAny else { return false }
        let before = found
        look()
        return found != before
    }

    private func look() {
        // Repeats until nothing changed between the check and the new watch.
        for _ in 0..<16 {
            let now = BusPlace.nearest(to: path)
            if now == found { return }
            found = now
            guard watch.isOurs, let now else { return }
            if watched >= 0 { inotify_rm_watch(watch.number, watched) }
            let own = BusPlace.directory(of: path)
            let directory = now.path == path ? own : now.path
            // In a directory further up only new entries are watched, because other changes may be frequent there.
            let attributes = directory == own ? IN_ATTRIB : 0
            watched = inotify_add_watch(
                watch.number, directory,
                UInt32(IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | attributes))
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
