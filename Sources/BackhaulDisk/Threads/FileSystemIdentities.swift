internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The identities of the file systems that have the directories of downloads. An identity survives a remount, under
/// another device number, too: it is the UUID of the file system. If there is none, it is the type and the source, such
/// as the server's name of a network share. It also has the part of the file system that is mounted, because the empty
/// directory below a bind mount may be on the same file system.
final class FileSystemIdentities: Sendable {
    private struct Directory {
        var device: UInt64
        var inode: UInt64
        var identity: String
    }

    private struct State {
        /// Nil while the list of mounts cannot be read, as in a chroot without /proc. Then no identity is known.
        var changes: MountChanges?
        /// The number of times that `known` was emptied.
        var generation = 0
        var known: [String: Directory] = [:]
    }

    private static let limit = 1_024
    /// File systems of disks that machines start from, and whose UUID may be unknown.
    private static let rootTypes: Set<String> = ["xfs", "f2fs", "jfs", "nilfs2", "bcachefs", "ubifs"]
    /// In place of the type and the mounted part, if the list of mounts does not have the mount.
    private static let unlisted = "?"

    private let state = Lock(State())

    /// Returns the identity, or nil if it is not known. Between two changes of the mounts, a directory with the same
    /// path, device and inode is on the same file system.
    func identity(of directory: Int32, at path: String, _ status: FileStatus) -> String? {
        let (known, generation): (Directory?, Int?) = state.withLock { state in
            if state.changes == nil { state.changes = try? MountChanges() }
            guard let changes = state.changes else { return (nil, nil) }
            if changes.takeChange() || state.known.count >= Self.limit {
                state.known = [:]
                state.generation += 1
            }
            return (state.known[path], state.generation)
        }
        guard let generation else { return nil }
        if let known, known.device == status.device, known.inode == status.inode { return known.identity }
        // The file system may hang, so the lock is not held meanwhile.
        guard let identity = Self.read(directory) else { return nil }
        state.withLock { state in
            guard state.generation == generation else { return }
            state.known[path] = Directory(device: status.device, inode: status.inode, identity: identity)
        }
        return identity
    }

    private static func read(_ directory: Int32) -> String? {
        let mount = bhl_mount_id(directory)
        guard mount >= 0, let mounts = MountTable.text else { return nil }
        let entry = MountTable.entry(mount, in: mounts)
        var uuid = [CChar](repeating: 0, count: 40)
        if bhl_file_system_uuid(directory, &uuid) == 0 {
            let name = String(decoding: uuid.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // In a chroot, the list of mounts does not have the mount of the root directory (proc_pid_mountinfo(5)).
            return entry.map { "\($0.type) \(name) \($0.root)" } ?? "\(unlisted) \(name) \(unlisted)"
        }
        // The directory below the mount point of such a file system may have the same type.
        guard let entry, !entry.source.isEmpty || !rootTypes.contains(entry.type) else { return nil }
        return "\(entry.type) \(entry.source) \(entry.root)"
    }

    /// Whether two identities are of the same file system. Another part of it may be mounted.
    static func areOfSameSystem(_ one: String, _ other: String) -> Bool {
        let (one, other) = (parts(one), parts(other))
        return one.name == other.name && (one.type == other.type || one.type == unlisted || other.type == unlisted)
    }

    private static func parts(_ identity: String) -> (type: Substring, name: Substring) {
        let type = identity.prefix { $0 != " " }
        let end = identity.lastIndex(of: " ") ?? identity.endIndex
        return (type, identity[type.endIndex..<max(type.endIndex, end)])
    }
}
