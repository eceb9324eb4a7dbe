internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Files that are never replaced, because other programs use them: devices, pipes, sockets, links to such files or to
/// directories, and links in /dev and /proc. A link to a plain file, and a link to nothing, may be replaced.
enum SpecialFile {
    private static let linkLimit = 40

    /// The failure of a download to this file; nil if the file may be replaced.
    static func failure(_ status: FileStatus, at path: String, _ files: FileSystem) -> Failure? {
        guard !status.isRegular, !status.isDirectory, isSpecial(status, path, files) else { return nil }
        return .system(
            .destinationUnavailable, code: EEXIST,
            "\(path) is a device, a pipe, a socket or a link that the system needs, and is never replaced; choose "
                + "another path")
    }

    private static func isSpecial(_ status: FileStatus, _ path: String, _ files: FileSystem) -> Bool {
        guard status.isLink else { return true }
        // A target that cannot be examined is no reason to refuse the link.
        if let target = try? files.status(of: path), !target.isRegular { return true }
        var path = path
        for _ in 0..<linkLimit {
            let split = SplitPath(path)
            guard let directory = resolved(split.directory) else { return false }
            if isOfSystem(directory + "/") { return true }
            guard let target = linkTarget(path) else { return false }
            path = target.hasPrefix("/") ? target : directory + "/" + target
            if isOfSystem(path) { return true }
        }
        return false
    }

    /// /dev/shm is for the files of programs.
    private static func isOfSystem(_ path: String) -> Bool {
        (path.hasPrefix("/dev/") || path.hasPrefix("/proc/")) && !path.hasPrefix("/dev/shm/")
    }

    private static func resolved(_ directory: String) -> String? {
        guard let resolved = realpath(directory, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func linkTarget(_ path: String) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &target, target.count)
        return count > 0 ? String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}
