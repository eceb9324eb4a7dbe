import Glibc

/// The finding of `backhaul doctor` about the space on the file system of a store.
enum DoctorSpace {
    /// With less space, transfers will soon wait, so there is a warning.
    private static let comfortable: UInt64 = 100 << 20
    /// With less space, the database cannot record new transfers and ends of transfers: a commit needs some pages of
    /// its log.
    private static let least: UInt64 = 1 << 20

    /// - Parameter path: A directory of the file system. Nil if the file system does not state its space.
    static func finding(_ path: String) -> Finding? {
        var space = statvfs()
        guard statvfs(path, &space) == 0 else { return nil }
        // Only root can use the reserved blocks and inodes.
        let isRoot = geteuid() == 0
        let blocks = isRoot ? space.f_bfree : space.f_bavail
        let inodes = isRoot ? space.f_ffree : space.f_favail
        return finding(
            free: UInt64(blocks) &* UInt64(space.f_frsize), total: UInt64(space.f_blocks) &* UInt64(space.f_frsize),
            // Some file systems have no fixed number of inodes. They state 0 inodes in total.
            hasInodes: space.f_files == 0 || inodes > 0)
    }

    private static func finding(free: UInt64, total: UInt64, hasInodes: Bool) -> Finding {
        let text = "\(Text.size(free)) of \(Text.size(total)) free on the store's file system"
        if !hasInodes {
            return .error("space", "\(text), but no inode: no file can be created", "Remove some files.")
        }
        if free < least {
            return .error("space", "\(text): nothing can be recorded, and transfers wait", "Free some space.")
        }
        if free < comfortable { return .warning("space", text, "Transfers wait when no space is left; free some.") }
        return .ok("space", text)
    }
}
