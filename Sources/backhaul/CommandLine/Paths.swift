import BackhaulPlatform
import CLinux
import Glibc

/// Converts paths to absolute paths, which the library requires, and checks files.
enum Paths {
    /// The environment variable with the path of the default store.
    static let storeVariable = "BACKHAUL_STORE"

    static func absolute(_ path: String) throws(CommandError) -> String {
        if path.isEmpty { throw .usage("a path on the command line is empty; give the path of a file or directory") }
        if path.hasPrefix("/") { return path }
        guard let directory = getcwd(nil, 0) else {
            throw .usage("the current directory cannot be found (\(reasonOfLastError())); give absolute paths")
        }
        defer { free(directory) }
        guard let directory = String(validatingCString: directory) else {
            throw .usage("the path of the current directory is not valid UTF-8; give absolute paths")
        }
        return join(directory, path)
    }

    /// Throws if `$BACKHAUL_STORE` is not valid UTF-8, because the library takes paths in UTF-8.
    static func checkStoreVariable() throws(CommandError) {
        guard let value = getenv(storeVariable), String(validatingCString: value) == nil else { return }
        throw .usage("\(storeVariable) is not valid UTF-8: \(Text.quoted(String(cString: value)))")
    }

    /// Whether the name of a store is the address of a database.
    static func isAddress(_ store: String) -> Bool {
        store.hasPrefix("postgresql://") || store.hasPrefix("postgres://")
    }

    static func join(_ directory: String, _ name: String) -> String {
        directory.hasSuffix("/") ? directory + name : directory + "/" + name
    }

    /// The directory that contains the file with this absolute path.
    static func directory(of path: String) -> String {
        let components = path.utf8.split(separator: UInt8(ascii: "/")).dropLast()
        return "/" + components.map { String(Substring($0)) }.joined(separator: "/")
    }

    /// Returns the path without symbolic links, `.` and `..`. The file that the last component names may be missing.
    static func resolved(_ path: String) throws(CommandError) -> String {
        if let found = real(path) { return found }
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let name = path[slash...].dropFirst()
        guard bhl_errno() == ENOENT, !name.isEmpty, name != "..", let above = real(String(path[...slash])) else {
            throw .stopped(.storeUnusable, "\(path) cannot be found: \(reasonOfLastError())")
        }
        return join(above, String(name))
    }

    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// Whether there is a file, or the system does not report whether there is one.
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 || !isErrorOfMissingFile }

    private static var isErrorOfMissingFile: Bool { [ENOENT, ENOTDIR].contains(bhl_errno()) }

    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The size of a regular file in bytes. Nil if the path does not name a regular file, or if the file has not
    /// changed since `time`.
    /// - Parameter time: The time in milliseconds since 1970. If it is nil, the time of the last change is not checked.
    static func sizeOfFile(_ path: String, changedSince time: Int64?) -> UInt64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let changed = Int64(status.st_ctim.tv_sec) * 1000 + Int64(status.st_ctim.tv_nsec) / 1_000_000
        if let time, changed < time { return nil }
        return UInt64(max(0, status.st_size))
    }

    /// The size of a regular file, and the time of its last change in Unix milliseconds. Nil if there is no such file,
    /// or if the path is a symbolic link. `isTimeCoarse` means that the time may be rounded to one or two seconds.
    static func file(_ path: String) -> (size: UInt64, modified: Int64, isTimeCoarse: Bool)? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let modified = Int64(status.st_mtim.tv_sec) * 1000 + Int64(status.st_mtim.tv_nsec) / 1_000_000
        return (UInt64(max(0, status.st_size)), modified, status.st_mtim.tv_nsec == 0)
    }

    /// Throws if the system does not report whether the file exists.
    static func isRegularFile(_ path: String, size: UInt64) throws(CommandError) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard isErrorOfMissingFile else {
                throw .stopped(
                    .transferFailed,
                    "the file \(path) of an earlier transfer cannot be checked: \(reasonOfLastError()); check its disk "
                        + "and the permissions of its directory")
            }
            return false
        }
        return status.st_mode & S_IFMT == S_IFREG && UInt64(max(0, status.st_size)) == size
    }

    /// Returns the default store, which is also the library's default. This is `$BACKHAUL_STORE`, else
    /// `$XDG_STATE_HOME/backhaul`, else `~/.local/state/backhaul`. The XDG Base Directory Specification requires that
    /// relative values are ignored, and that new directories have mode 0700. A relative `$BACKHAUL_STORE` is an error.
    static func defaultStore(making: Bool = true) throws(CommandError) -> String {
        if let value = environment(storeVariable) {
            if value.utf8.first == UInt8(ascii: "/") || isAddress(value) { return value }
            throw .stopped(.storeUnusable, "\(storeVariable) is the relative path \(value); give an absolute path")
        }
        let store = join(try stateDirectory(), "backhaul")
        if making { try makeDirectories(store) }
        return store
    }

    /// The directory for the user's durable data, which may not exist yet.
    static func stateDirectory() throws(CommandError) -> String {
        if let value = environment("XDG_STATE_HOME"), value.hasPrefix("/") { return value }
        if let home = environment("HOME"), home.hasPrefix("/") { return join(home, ".local/state") }
        throw .usage("neither XDG_STATE_HOME nor HOME is an absolute path; name the store with --store")
    }

    /// The directory for the user's configuration files, as the XDG Base Directory Specification defines it. Nil if
    /// neither variable is an absolute path.
    static var configurationDirectory: String? { userDirectory("XDG_CONFIG_HOME", default: ".config") }

    /// The same for the user's data files.
    static var dataDirectory: String? { userDirectory("XDG_DATA_HOME", default: ".local/share") }

    private static func userDirectory(_ variable: String, default path: String) -> String? {
        if let value = environment(variable), value.hasPrefix("/") { return value }
        return environment("HOME").flatMap { $0.hasPrefix("/") ? join($0, path) : nil }
    }

    /// Makes the directory and the missing ones above it. Returns the directories that have new entries.
    @discardableResult
    static func makeDirectories(
        _ path: String, mode: mode_t = 0o700, _ code: ExitCode = .storeUnusable
    ) throws(CommandError) -> [String] {
        var (prefix, changed): (String, [String]) = ("", [])
        for component in path.split(separator: "/") {
            let above = prefix.isEmpty ? "/" : prefix
            prefix += "/" + component
            if mkdir(prefix, mode) == 0 {
                changed.append(above)
            } else if bhl_errno() != EEXIST {
                // If the directory exists, mkdir may fail with another error than EEXIST, for example EACCES.
                if access(prefix, F_OK) == 0 { continue }
                throw .stopped(
                    code, "the directory \(prefix) cannot be created: \(reasonOfLastError())")
            }
        }
        return changed
    }

    /// Syncs the entries of a directory to the disk, if this user can open it. Errors are ignored.
    static func sync(_ directory: String) {
        let number = bhl_open(directory, O_RDONLY | O_DIRECTORY, 0)
        guard number >= 0 else { return }
        try? FileSync.sync(number)
        close(number)
    }
}

func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
}

func reasonOfLastError() -> String {
    let code = bhl_errno()
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        bhl_strerror(code, buffer.baseAddress, buffer.count)
        return buffer.baseAddress.map { String(cString: $0) } ?? "error \(code)"
    }
}
