internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Files that are never replaced, because other programs use them: devices, pipes, sockets, links to such files or to
/// directories, and links in /dev and /proc. A link to a plain file, and a link to nothing, may be replaced.
enum SpecialFile {
    private static let linkLimit = 40

    /// Throws if the file must not be replaced.
    static func check(_ status: FileStatus, at path: String, _ files: FileSystem) throws(Failure) {
        guard !status.isRegular, !status.isDirectory else { return }
        do throws(SystemError) {
            guard try isSpecial(status, path, files) else { return }
        } catch {
            throw .disk(error, path)
        }
        throw .system(
            .destinationUnavailable, code: EEXIST,
            "\(path) is a device, a pipe, a socket or a link that the system needs, and is never replaced; choose "
                + "another path")
    }

    private static func isSpecial(
        _ status: FileStatus, _ path: String, _ files: FileSystem
    ) throws(SystemError) -> Bool {
        guard status.isLink else { return true }
        // A target that this user must not examine is no reason to refuse the link.
        let target = try files.ifReachable { () throws(SystemError) in try files.status(of: path) }
        if let target, !target.isRegular { return true }
        var path = path
        for _ in 0..<linkLimit {
            let split = SplitPath(path)
            guard let directory = try files.ifReachable({ () throws(SystemError) in try resolved(split.directory) })
            else { return false }
            if isOfSystem(directory + "/") { return true }
            guard let target = try files.ifReachable({ () throws(SystemError) in try linkTarget(path) }) else {
                return false
            }
            path = target.hasPrefix("/") ? target : directory + "/" + target
            if isOfSystem(path) { return true }
        }
        return false
    }

    /// /dev/shm is for the files of programs.
    private static func isOfSystem(_ path: String) -> Bool {
        (path.hasPrefix("/dev/") || path.hasPrefix("/proc/")) && !path.hasPrefix("/dev/shm/")
    }

    private static func resolved(_ directory: String) throws(SystemError) -> String {
        guard let resolved = realpath(directory, nil) else { throw .last("cannot follow the links of") }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The target of a symbolic link; nil if the file is no link.
    private static func linkTarget(_ path: String) throws(SystemError) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &target, target.count)
        if count < 0, bhl_errno() == EINVAL { return nil }
        guard count >= 0 else { throw .last("cannot follow the link") }
        return String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
