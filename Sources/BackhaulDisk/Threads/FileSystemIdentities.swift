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
        var identity: String?
    }

    private struct State {
        var known: [String: Directory] = [:]
    }

    private static let limit = 1_024

    /// Nil if the list of mounts cannot be read, as in a chroot without /proc. Then no identity is known.
    private let changes = try? MountChanges()
    private let state = Lock(State())

    /// Returns the identity, or nil if it is not known. Between two changes of the mounts, a directory with the same
    /// path, device and inode is on the same file system.
    func identity(of directory: Int32, at path: String, _ status: FileStatus) -> String? {
        guard let changes else { return nil }
        return state.withLock { state in
            if changes.takeChange() || state.known.count >= Self.limit { state.known = [:] }
            if let known = state.known[path], known.device == status.device, known.inode == status.inode {
                return known.identity
            }
            let identity = Self.read(directory)
            state.known[path] = Directory(device: status.device, inode: status.inode, identity: identity)
            return identity
        }
    }

    private static func read(_ directory: Int32) -> String? {
        let mount = bhl_mount_id(directory)
        guard mount >= 0, let entry = MountTable.entry(mount, in: MountTable.text) else { return nil }
        var uuid = [CChar](repeating: 0, count: 40)
        let hasUUID = bhl_file_system_uuid(directory, &uuid) == 0
        let name =
            hasUUID
            ? String(decoding: uuid.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : entry.source
        return "\(entry.type) \(name) \(entry.root)"
    }
}
