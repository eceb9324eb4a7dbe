import Glibc
import Testing

/// A small file system in memory, mounted on a temporary directory for one test.
final class Mount {
    let scratch: Scratch

    static let isPossible: Bool = {
        guard geteuid() == 0, let mount = try? Mount(size: "64k") else { return false }
        return mount.unmount()
    }()

    /// Mounts a file system of this size, in the notation of mount(8), such as "1m".
    init(size: String) throws {
        scratch = try Scratch()
        try #require(mount("tmpfs", scratch.path, "tmpfs", 0, "size=\(size),mode=700") == 0)
    }

    /// The number of bytes that can still be written.
    var available: UInt64 {
        var status = statvfs()
        return statvfs(scratch.path, &status) == 0 ? UInt64(status.f_bavail) * UInt64(status.f_frsize) : 0
    }

    /// Waits until all blocks are free. A removed file uses its blocks until the last thread has closed it.
    func waitUntilEmpty() {
        var status = statvfs()
        while statvfs(scratch.path, &status) == 0, status.f_bfree < status.f_blocks { usleep(1_000) }
    }

    /// Unmounts the file system. Returns false while a file in it is open.
    func unmount() -> Bool { umount2(scratch.path, 0) == 0 }

    deinit { umount2(scratch.path, Int32(MNT_DETACH)) }
}
