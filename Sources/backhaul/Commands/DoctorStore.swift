import BackhaulDisk
import BackhaulPlatform
import BackhaulUserManager
import CLinux
import Glibc

/// The findings of `backhaul doctor` about the files of a store. The store is not opened.
struct DoctorStore {
    let path: String
    private(set) var findings: [Finding] = []
    private(set) var exists = false

    /// - Parameter makesParents: Whether the library also makes the missing parents of the store.
    init(path: String, makesParents: Bool) {
        self.path = path
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard bhl_errno() == ENOENT else {
                findings = [.error("store", "\(path): \(reasonOfLastError())")]
                return
            }
            findings = missing(makesParents)
            return
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            findings = [.error("store", "\(path) is not a directory", "Move it away, or choose another with --store.")]
            return
        }
        exists = true
        findings = [place, access(status), DoctorSpace.finding(path), orphanedBodies].compactMap { $0 }
    }

    /// The findings about a store that does not exist yet.
    private func missing(_ makesParents: Bool) -> [Finding] {
        var parent = Paths.directory(of: path)
        while makesParents, parent != "/", !Paths.exists(parent) { parent = Paths.directory(of: parent) }
        guard Paths.isDirectory(parent) else {
            return [
                .error(
                    "store", "\(path) does not exist, and neither does its parent directory",
                    "Make the directory \(parent), or choose another store with --store.")
            ]
        }
        guard Glibc.access(parent, W_OK | X_OK) == 0 else {
            return [
                .error(
                    "store", "\(path) does not exist, and nothing can be created in \(parent): \(reasonOfLastError())",
                    "Let this user write to \(parent), or choose another store with --store.")
            ]
        }
        let store = Finding.ok("store", "\(path) does not exist yet; the first program that needs it creates it")
        return [store, DoctorSpace.finding(parent)].compactMap { $0 }
    }

    private static let networkKinds: Set = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "9p", "fuse.sshfs", "fuse.glusterfs",
        "ocfs2", "gfs2", "lustre",
    ]

    /// The store's path, the size of its files, and its file system.
    private var place: Finding {
        let kind = FileSystemKind.name(at: path)
        let text = "\(path), on \(kind ?? "an unknown file system"); its files take \(Text.size(size))"
        if kind == "tmpfs" || kind == "ramfs" {
            return .warning("store", text, "Its files are lost at a reboot; choose another directory with --store.")
        }
        if let kind, Self.networkKinds.contains(kind) {
            return .error(
                "store", text,
                "Locks are not reliable there: move it with --store, BACKHAUL_STORE or XDG_STATE_HOME.")
        }
        return .ok("store", text)
    }

    /// The finding about the owner and the mode of the store. Only the user should be able to read and write the store.
    private func access(_ status: stat) -> Finding? {
        let mode = String(status.st_mode & 0o7777, radix: 8)
        if status.st_uid != geteuid() {
            return .error("store", "it belongs to user \(status.st_uid), but you are user \(geteuid())")
        }
        if status.st_mode & 0o077 != 0 {
            return .error(
                "store", "its mode is \(mode): others could read requests and their secrets", "chmod 700 \(path)")
        }
        if Glibc.access(path, R_OK | W_OK | X_OK) != 0 {
            return .error("store", "it cannot be written: \(reasonOfLastError())")
        }
        return .ok("access", "mode \(mode), of this user")
    }

    /// A warning about files that programs gave the library for uploads, but that the database does not know. An engine
    /// has moved these files into the store's folder `bodies/lost`.
    private var orphanedBodies: Finding? {
        let folder = Paths.join(path, "bodies/lost")
        let count = ((try? DirectoryReader.textNames(in: folder)) ?? []).count
        guard count > 0 else { return nil }
        return .warning(
            "store", "\(folder) has \(count) \(count == 1 ? "file" : "files") that the database does not know",
            "They are bodies of uploads newer than this copy of the database: inspect, then move or remove them.")
    }

    /// The bytes that all files of the store occupy on disk.
    private var size: UInt64 { DoctorStore.size(path, depth: 4) }

    /// The size of a directory. Files that cannot be read, and files whose name is not UTF-8, do not count. The store
    /// creates only names in UTF-8.
    private static func size(_ path: String, depth: Int) -> UInt64 {
        var sum: UInt64 = 0
        for name in (try? DirectoryReader.textNames(in: path)) ?? [] {
            var status = stat()
            guard lstat(Paths.join(path, name), &status) == 0 else { continue }
            sum &+= UInt64(max(0, status.st_blocks)) &* 512
            if status.st_mode & S_IFMT == S_IFDIR, depth > 0 { sum &+= size(Paths.join(path, name), depth: depth - 1) }
        }
        return sum
    }

    var isLocked: Bool { StoreLock.isHeld(in: path) }

    private var socketName: String { Paths.join(path, "engine.socket") }

    var hasSocket: Bool {
        var status = stat()
        return lstat(socketName, &status) == 0
    }

    /// Whether the engine's socket exists and belongs to the user.
    var socket: Finding {
        let name = socketName
        var status = stat()
        guard lstat(name, &status) == 0 else {
            return .error(
                "socket", "\(name): \(reasonOfLastError())",
                "End the engine's process; the next engine creates it again.")
        }
        if status.st_mode & S_IFMT != S_IFSOCK || status.st_uid != geteuid() {
            return .error("socket", "\(name) is not a socket of this user", "Remove it, and end the engine's process.")
        }
        return .ok("socket", name)
    }

    /// The path of the log of the daemon, or the command that reads the log from the journal. If the last line of the
    /// log file is an error, a warning quotes this line.
    var log: [Finding] {
        guard exists else { return [] }
        let name = Paths.join(path, "daemon.log")
        let real = (try? Paths.resolved(path)) ?? path
        let inJournal = "in the journal: journalctl -t backhauld BACKHAUL_STORE=\(real)"
        var status = stat()
        guard stat(name, &status) == 0 else {
            return [.ok("log", Journal().isAvailable ? inJournal : "none was written yet")]
        }
        let size = Text.size(UInt64(max(0, status.st_size)))
        let text = Journal().isAvailable ? "\(inJournal); errors also in \(name), \(size)" : "\(name), \(size)"
        guard let error = lastLine(of: name), error.contains(" error: ") else { return [.ok("log", text)] }
        return [.warning("log", text), .warning("log", "it ends with an error: \(error)")]
    }

    private func lastLine(of name: String) -> String? {
        let number = bhl_open(name, O_RDONLY | O_NOFOLLOW, 0)
        guard number >= 0 else { return nil }
        defer { close(number) }
        let end = lseek(number, 0, SEEK_END)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = pread(number, &buffer, buffer.count, max(0, end - off_t(buffer.count)))
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").last.map(String.init)
    }
}
