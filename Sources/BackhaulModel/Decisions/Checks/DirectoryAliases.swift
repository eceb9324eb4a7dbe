/// The paths by which hosts have named each directory. Through symbolic links and bind mounts, a directory can have
/// several paths.
public struct DirectoryAliases: Sendable {
    private struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    /// The limit of remembered directories. If a directory is forgotten, two downloads may get the same destination
    /// (the path of the finished file). In this case, the second download finds the file of the first download there.
    private static let directoryLimit = 4_096
    private static let pathLimit = 8

    private var paths: [Identity: [String]] = [:]
    private var last: (identity: Identity, directory: String)?

    public init() {}

    /// Remembers the path of the file's directory, and returns the file's other paths.
    public mutating func others(of destination: Destination) -> [String] {
        let identity = Identity(device: destination.directoryDevice, inode: destination.directoryInode)
        let directory = destination.directory
        // Shortcut: in a list of files, consecutive files mostly have the same directory.
        if let last, last.identity == identity, last.directory == directory, paths[identity]?.count == 1 { return [] }
        last = (identity, directory)
        if paths.count >= Self.directoryLimit, paths[identity] == nil { paths.removeAll() }
        var known = paths[identity] ?? []
        let others = known.filter { $0 != directory }
        if others.count == known.count, known.count < Self.pathLimit {
            known.append(directory)
            paths[identity] = known
        }
        return others.map { ($0 == "/" ? "" : $0) + "/" + destination.name }
    }
}
