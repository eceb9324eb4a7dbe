import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulStore

// The Glibc module does not include <sys/fsuid.h>.
@_silgen_name("setfsuid") private func setfsuid(_ user: uid_t) -> Int32

@Suite("The store's directory")
struct DirectoryTests {
    let scratch = Scratch()
    private var path: String { scratch.path + "/store" }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    private func refusal(_ path: String) -> Failure? {
        #expect(throws: Failure.self) { try StoreDirectory.open(path: path) }
    }

    @Test("if the file system reports more free bytes than 64 bits can count, the largest number is returned")
    func freeBytes() {
        var space = statvfs()
        (space.f_bavail, space.f_frsize) = (3, 4_096)
        #expect(space.availableBytes == 12_288)
        space.f_bavail = .max
        #expect(space.availableBytes == .max)
    }

    @Test("a store's directory is created with mode 0700 if its parent exists, and it can be opened again")
    func made() throws {
        let first = try StoreDirectory.open(path: path)
        #expect(mode(path) == 0o700)
        #expect(first.keptPath == path + "/kept")
        #expect(try StoreDirectory.open(path: path + "//").path == path)
    }

    @Test(
        "a store whose files the system does not report is neither moved nor deleted, and its database is not replaced")
    func unreported() throws {
        let store = try StoreDirectory.open(path: path)
        for name in [StoreDirectory.lockName, "data"] { close(open(path + "/" + name, O_WRONLY | O_CREAT, 0o600)) }
        let files = DatabaseDescriptors(directory: store.descriptor, names: ["data"])
        #expect(store.replacementFailure == nil && !files.mayBeReplaced("data"))
        try files.checkNames(of: store)
        // Directories without rights stop every user except root, whose rights only setfsuid(2) takes away.
        for directory in [path, scratch.path] { chmod(directory, 0) }
        _ = setfsuid(12_345)
        let failure = store.replacementFailure
        let mayBeReplaced = files.mayBeReplaced("data")
        let refusal = #expect(throws: Failure.self) { try files.checkNames(of: store) }
        _ = setfsuid(geteuid())
        for directory in [scratch.path, path] { chmod(directory, 0o700) }
        #expect(failure == nil && mayBeReplaced)
        #expect(refusal?.detail == Int64(EACCES) && refusal?.message.contains("removed") == false)
        unlink(path + "/data")
        #expect(throws: Failure.self) { try files.checkNames(of: store) }
        unlink(path + "/" + StoreDirectory.lockName)
        #expect(store.replacementFailure?.message.contains("its lock is missing") == true)
    }

    @Test("with any umask, a store's directory has mode 0700 and its files have mode 0600")
    func umasks() async throws {
        for mask in [mode_t(0), 0o777] {
            let path = scratch.path + "/\(mask)"
            await #expect(processExitsWith: .success) { [path = path as String, mask = mask as mode_t] in
                umask(mask)
                let store = try TestStore(path)
                try store.session()
                func mode(_ path: String) -> mode_t {
                    var status = stat()
                    lstat(path, &status)
                    return status.st_mode & 0o7777
                }
                #expect(mode(path) == 0o700)
                for name in ["lock", Schema.fileName, Schema.fileName + "-wal"] {
                    #expect(mode(path + "/" + name) == 0o600, "\(name)")
                }
                #expect(access(path + "/" + Schema.fileName + "-shm", F_OK) != 0)
            }
        }
    }

    @Test(
        "a store is not in a directory of the kernel", arguments: ["/proc", "/proc/store", "/proc/self", "/sys/store"])
    func kernel(path: String) {
        let failure = refusal(path)
        #expect(failure?.status == .storeUnavailable)
        #expect(failure?.message.contains("where only the kernel makes files; set options.store") == true)
    }

    @Test("a store must have a valid absolute path below an existing directory")
    func paths() throws {
        #expect(refusal("relative/store")?.status == .invalidArgument)
        #expect(refusal("")?.status == .invalidArgument)
        #expect(refusal("/" + String(repeating: "x", count: 4_000))?.status == .invalidArgument)
        #expect(refusal("/tmp/a\0b")?.status == .invalidArgument)
        #expect(refusal(path + "/missing/store")?.status == .storeUnavailable)
        let file = scratch.path + "/file"
        close(creat(file, 0o600))
        #expect(refusal(file)?.status == .invalidArgument)
        #expect(refusal(file + "/store")?.status == .storeUnavailable)
    }

    @Test("the path of a store may be longer than the paths that SQLite accepts")
    func longPath() throws {
        var long = scratch.path
        while long.utf8.count < 3_700 {
            long += "/" + String(repeating: "d", count: 200)
            mkdir(long, 0o700)
        }
        let session: SessionID
        do {
            let store = try TestStore(long + "/store")
            session = try store.session()
            try store.enqueue([.numbered(1)], in: session)
            store.close()
        }
        #expect(try TestStore(long + "/store").tasks(of: session).count == 1)
    }

    @Test("a directory whose mode allows access by others is refused and not changed")
    func openToOthers() throws {
        for bits in [mode_t(0o755), 0o770, 0o701] {
            mkdir(path, bits)
            chmod(path, bits)
            let failure = refusal(path)
            #expect(failure?.status == .storeUnavailable)
            #expect(failure?.message.contains("chmod 700") == true)
            #expect(mode(path) == bits)
        }
    }

    @Test("a directory that belongs to another user is refused", .enabled(if: geteuid() == 0))
    func otherUser() async throws {
        mkdir(path, 0o755)
        chmod(scratch.path, 0o711)
        await #expect(processExitsWith: .success) { [path = path as String] in
            #expect(setuid(65_534) == 0)
            let failure = #expect(throws: Failure.self) { try StoreDirectory.open(path: path) }
            #expect(failure?.status == .storeUnavailable)
            #expect(failure?.message.contains("belongs to user 0") == true)
        }
        chmod(path, 0o700)
        await #expect(processExitsWith: .success) { [path = path as String] in
            #expect(setuid(65_534) == 0)
            #expect(#expect(throws: Failure.self) { try StoreDirectory.open(path: path) }?.status == .storeUnavailable)
        }
    }

    @Test(
        "the store's folders are made although the directory above the store cannot be read",
        .enabled(if: geteuid() == 0))
    func unreadableParent() async {
        mkdir(path, 0o700)
        chown(path, 65_534, 65_534)
        chmod(scratch.path, 0o711)
        await #expect(processExitsWith: .success) { [path = path as String] in
            #expect(setuid(65_534) == 0)
            try StoreDirectory.open(path: path).makeFolders()
            #expect(access(path + "/kept", F_OK) == 0 && access(path + "/bodies", F_OK) == 0)
        }
    }

    @Test("a store that cannot be written is reported as read-only", .enabled(if: geteuid() == 0))
    func readOnly() async throws {
        mkdir(path, 0o500)
        chown(path, 65_534, 65_534)
        chmod(scratch.path, 0o711)
        await #expect(processExitsWith: .success) { [path = path as String] in
            #expect(setuid(65_534) == 0)
            #expect(#expect(throws: Failure.self) { try StoreDirectory.open(path: path) }?.status == .storeReadOnly)
        }
        chmod(path, 0o700)
        await #expect(processExitsWith: .success) { [path = path as String] in
            #expect(setuid(65_534) == 0)
            do { _ = try TestStore(path) }
            chmod(path + "/" + Schema.fileName, 0o400)
            #expect(#expect(throws: Failure.self) { try TestStore(path) }?.status == .storeReadOnly)
        }
    }

    @Test(
        "a new store on a network file system is refused and removed, and the error names a remedy",
        arguments: [
            (0x6969, "NFS"), (0xFF53_4D42, "CIFS"), (0xFE53_4D42, "SMB"), (0x0102_1997, "9P"), (0x00C3_6400, "Ceph"),
            (0x5346_414F, "AFS"), (0x0BD0_0BD0, "Lustre"), (0x0116_1970, "GFS2"), (0x7461_636F, "OCFS2"),
        ] as [(UInt32, String)])
    func network(magic: UInt32, name: String) throws {
        let failure = #expect(throws: Failure.self) {
            try StoreDirectory.open(path: path) { _ in FileSystemType(magic: magic) }
        }
        #expect(failure?.status == .storeOnNetworkFileSystem)
        #expect(failure?.message.contains(name) == true)
        #expect(failure?.message.contains("options.store") == true)
        #expect(mode(path) == nil)
    }

    @Test(
        "a store on a local file system or on FUSE is opened",
        arguments: [
            0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0x6573_5546, 0x2FC1_2FC1,
        ] as [UInt32])
    func local(magic: UInt32) throws {
        _ = try StoreDirectory.open(path: path) { _ in FileSystemType(magic: magic) }
    }
}

@Suite("The store's lock")
struct LockTests {
    let scratch = Scratch()

    @Test("the store lock has one holder at a time, and is released with the last reference to it")
    func exclusive() throws {
        let directory = try StoreDirectory.open(path: scratch.path)
        #expect(directory.lockHolder() == nil)
        do {
            let lock = try #require(try directory.acquireLock())
            #expect(try directory.acquireLock() == nil)
            #expect(try StoreDirectory.open(path: scratch.path).acquireLock() == nil)
            #expect(directory.lockHolder() == .current)
            withExtendedLifetime(lock) {}
        }
        #expect(try directory.acquireLock() != nil)
    }

    @Test("the store lock excludes other processes, and ends with its process, even after kill -9")
    func processes() async throws {
        let directory = try StoreDirectory.open(path: scratch.path)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path as String] in
            let lock = try #require(try StoreDirectory.open(path: path).acquireLock())
            withExtendedLifetime(lock) { _ = kill(getpid(), SIGKILL) }
        }
        let lock = try #require(try directory.acquireLock())
        #expect(directory.lockHolder() == .current)
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            let other = try StoreDirectory.open(path: path)
            #expect(try other.acquireLock() == nil)
            #expect(other.lockHolder()?.processID == getppid())
        }
        withExtendedLifetime(lock) {}
    }

    @Test("the store lock is not inherited by a forked child")
    func forked() async throws {
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            let directory = try StoreDirectory.open(path: path)
            var lock = try directory.acquireLock()
            #expect(lock != nil)
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            let child = fork()
            if child == 0 {
                write(ends[1], "x", 1)
                pause()
                _exit(0)
            }
            lock = nil
            var byte: UInt8 = 0
            #expect(read(ends[0], &byte, 1) == 1)
            // The child still runs. If the child had a copy of the lock's descriptor, the lock would not be free.
            #expect(try directory.acquireLock() != nil)
            kill(child, SIGKILL)
            waitpid(child, nil, 0)
        }
    }

    @Test("a released store lock is free immediately, even if a child process has a copy of the descriptor")
    func copies() throws {
        let directory = try StoreDirectory.open(path: scratch.path)
        var copy: Int32 = -1
        do {
            let lock = try #require(try directory.acquireLock())
            // A child process has such a copy between fork and exec.
            copy = try #require(
                (3..<32_768).first { number in
                    var ours = stat()
                    var file = stat()
                    stat(scratch.path + "/lock", &file)
                    return fstat(number, &ours) == 0 && ours.st_ino == file.st_ino && ours.st_dev == file.st_dev
                }.map { dup($0) })
            #expect(copy >= 0)
            withExtendedLifetime(lock) {}
        }
        #expect(try directory.acquireLock() != nil)
        close(copy)
    }

    @Test("a lock on a removed lock file does not prevent a new lock")
    func removed() throws {
        let directory = try StoreDirectory.open(path: scratch.path)
        let old = try #require(try directory.acquireLock())
        unlink(scratch.path + "/lock")
        let new = try #require(try directory.acquireLock())
        #expect(try directory.acquireLock() == nil)
        withExtendedLifetime((old, new)) {}
    }

    @Test("the store lock has no holder if the text of the lock file is invalid")
    func garbage() throws {
        let directory = try StoreDirectory.open(path: scratch.path)
        for text in ["", "hello", "1 2", "x y z", "99999999999 1 b", String(repeating: "1 ", count: 400)] {
            let number = open(scratch.path + "/lock", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            write(number, text, text.utf8.count)
            close(number)
            #expect(directory.lockHolder() == nil)
        }
    }
}
