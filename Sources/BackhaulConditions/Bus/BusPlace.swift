internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The place in the file system where a bus listens, or will: watched while there is none (inotify(7)), from as near as
/// there is a directory.
final class BusPlace {
    /// How much of the path there is, and which file its end is: another one after each change that matters.
    private struct Found: Equatable {
        var path: String
        var device: UInt64
        var inode: UInt64
        /// Of the socket itself: permissions keep out, too, and numbers of files are used again.
        var changed: Int
    }

    private let path: String
    private let watch: Descriptor
    private var watched: Int32 = -1
    private var found: Found?

    /// Nil where nothing can be watched.
    init?(path: String) {
        let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { return nil }
        self.path = path
        watch = Descriptor(owning: number)
        look()
        if watched < 0 { return nil }
    }

    /// Readable when something has changed in the directory that is watched.
    var number: Int32 { watch.number }

    /// Takes what has changed. True when it has to do with the bus.
    func takeChanges() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var hasAny = false
        // What is told is only that something changed: overflows and lost names make no difference.
        while watch.isOurs, read(watch.number, &buffer, buffer.count) > 0 { hasAny = true }
        guard hasAny else { return false }
        let before = found
        look()
        return found != before
    }

    private func look() {
        // Until nothing more has come in between the look and the watch.
        for _ in 0..<16 {
            let now = BusPlace.nearest(to: path)
            if now == found { return }
            found = now
            guard watch.isOurs, let now else { return }
            if watched >= 0 { inotify_rm_watch(watch.number, watched) }
            let own = BusPlace.directory(of: path)
            let directory = now.path == path ? own : now.path
            // Of a directory above only what is new in it: others may be busy there.
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
