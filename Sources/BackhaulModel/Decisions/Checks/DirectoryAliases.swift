/// By which paths hosts have named each directory: through symbolic links and bind mounts one file has several.
public struct DirectoryAliases: Sendable {
    private struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    /// What is forgotten only lets two tasks have one file, of which one will then find it there.
    private static let directoryLimit = 4_096
    private static let pathLimit = 8

    private var paths: [Identity: [String]] = [:]
    private var last: (identity: Identity, directory: String)?

    public init() {}

    /// Remembers by which path the file's directory was named, and returns the file's other paths.
    public mutating func others(of destination: Destination) -> [String] {
        let identity = Identity(device: destination.directoryDevice, inode: destination.directoryInode)
        let directory = destination.directory
        // Neighbours in a list mostly go to the same directory.
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
