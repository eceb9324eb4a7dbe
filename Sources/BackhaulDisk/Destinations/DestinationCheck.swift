public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Checks whether a download may be placed at a path. The check runs in the process of the host, and with the host's
/// rights. One value checks all requests that the host enqueues in one call, and caches the directories that it has
/// checked.
public struct DestinationCheck: Sendable {
    private static let directoryCacheSize = 64

    private let files = FileSystem()
    private var directories: [String: FileStatus] = [:]

    public init() {}

    /// Checks a single destination.
    public static func check(path: String, ifExists: ExistsPolicy) throws(Failure) -> Destination {
        var check = DestinationCheck()
        return try check.check(path: path, ifExists: ifExists)
    }

    /// Returns the destination with the identity of its directory. Throws `invalidArgument` for a malformed path, and
    /// `destinationUnavailable` for a directory that does not exist or cannot be written. Throws `destinationExists` if
    /// a file exists at the path and `ifExists` is `fail`.
    public mutating func check(path: String, ifExists: ExistsPolicy) throws(Failure) -> Destination {
        try DestinationCheck.checkForm(path)
        try DestinationCheck.checkName(path)
        var destination = Destination(path: path, directoryDevice: 0, directoryInode: 0)
        let directory = try status(ofDirectory: destination.directory)
        destination.directoryDevice = directory.device
        destination.directoryInode = directory.inode
        let found: FileStatus?
        do throws(SystemError) {
            let existing = try files.status(in: AT_FDCWD, path)
            if let existing, existing.isDirectory {
                throw SystemError(code: EISDIR, messageStart: "cannot put a file in the place of")
            }
            found = existing
        } catch {
            throw .disk(error, path)
        }
        if let found { try SpecialFile.check(found, at: path, files) }
        let isThere = found != nil
        guard !isThere || ifExists != .fail else { throw .exists(path) }
        if isThere { try CaseTwin.check(at: path, files) }
        if isThere, files.isMountPoint(path) {
            throw .disk(SystemError(code: EBUSY, messageStart: "cannot replace"), path)
        }
        if NameProbe.isNeeded(destination.name), !isThere { try probe(destination.name, in: destination.directory) }
        destination.fileExists = isThere
        return destination
    }

    /// Checks a directory in which the server will choose the name of the file. The rules for the path's form and for
    /// the directory are the same as for a complete path.
    public mutating func check(directory path: String) throws(Failure) -> Destination {
        try DestinationCheck.checkForm(path)
        let path = Destination.directoryPath(path)
        let directory = try status(ofDirectory: Destination.directory(of: path))
        return Destination(path: path, directoryDevice: directory.device, directoryInode: directory.inode)
    }

    private static func malformed(_ reason: String) -> Failure {
        Failure(.invalidArgument, "the destination \(reason)")
    }

    private static func checkForm(_ path: String) throws(Failure) {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw malformed(path.isEmpty ? "is empty; give an absolute path" : "\(path) is not an absolute path")
        }
        guard !path.utf8.contains(0) else { throw malformed("contains a NUL byte") }
        guard path.utf8.count <= Limits.pathSize else {
            throw malformed("has \(path.utf8.count) bytes; a path has at most \(Limits.pathSize)")
        }
    }

    private static func checkName(_ path: String) throws(Failure) {
        let name = path.utf8.suffix(while: { $0 != UInt8(ascii: "/") })
        guard name.count <= Limits.fileNameSize else {
            throw malformed("\(path) has a name of \(name.count) bytes; a name has at most \(Limits.fileNameSize)")
        }
        guard !name.isEmpty, !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) else {
            throw malformed("\(path) names a directory; end it with the name of a file")
        }
    }

    private func probe(_ name: String, in path: String) throws(Failure) {
        guard let directory = try? files.openDirectory(path) else { return }
        try NameProbe.check(name, in: directory.number, at: path + "/" + name, files)
    }

    private mutating func status(ofDirectory path: String) throws(Failure) -> FileStatus {
        if let known = directories[path] { return known }
        if let kernel = KernelDirectory.above(path) {
            throw Failure(
                .destinationUnavailable,
                "the directory \(path) is in \(kernel), where only the kernel makes files; choose another directory")
        }
        do throws(SystemError) {
            // The engine, which runs the download, needs all three rights: to find the part file (the unfinished
            // download), to make and rename it, and to open the directory for a sync. With a slash at the end of the
            // path, the kernel reports a file as ENOTDIR, not as EACCES.
            try files.checkAccess(path + "/", R_OK | W_OK | X_OK)
            guard let status = try files.status(of: path) else {
                throw SystemError(code: ENOENT, messageStart: "cannot use the directory")
            }
            guard status.isDirectory else { throw SystemError(code: ENOTDIR, messageStart: "cannot use the directory") }
            if directories.count >= DestinationCheck.directoryCacheSize { directories.removeAll() }
            directories[path] = status
            return status
        } catch {
            let failure = Failure.disk(SystemError(code: error.code, messageStart: "cannot use the directory"), path)
            // A task waits for a file system that has become read-only. A request does not start with such a wait.
            throw error.code == EROFS ? .system(.destinationUnavailable, code: EROFS, failure.message) : failure
        }
    }
}

extension BidirectionalCollection {
    /// Returns the longest ending whose elements all satisfy the predicate.
    func suffix(while predicate: (Element) -> Bool) -> SubSequence {
        var start = endIndex
        while start > startIndex, predicate(self[index(before: start)]) { start = index(before: start) }
        return self[start...]
    }
}
