internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The system calls on files, each with its error. Debug builds ask a fault plan first; release builds have no trace of
/// it.
struct FileSystem: Sendable {
    #if DEBUG
    var faults: FaultPlan?
    #endif

    /// Of the thread that makes the calls.
    var activity: DiskActivity?

    init() {}

    private func call<Number: SignedInteger>(
        _ operation: FileOperation, _ body: () -> Number
    ) throws(SystemError) -> Number {
        if activity?.isRevoked == true { throw SystemError(code: ECANCELED, attempt: operation.attempt) }
        #if DEBUG
        if let code = faults?.next(operation) { throw SystemError(code: code, attempt: operation.attempt) }
        #endif
        while true {
            let result = body()
            if result >= 0 { return result }
            let code = bhl_errno()
            // A sync is never repeated: a second answer says nothing about the first one's data (fsync(2)).
            if code != EINTR || operation == .sync || operation == .syncDirectory {
                throw SystemError(code: code, attempt: operation.attempt)
            }
        }
    }

    func openDirectory(_ path: String) throws(SystemError) -> Descriptor {
        Descriptor(owning: try call(.openDirectory) { bhl_open(path, O_RDONLY | O_DIRECTORY, 0) })
    }

    func open(in directory: Int32, _ name: String) throws(SystemError) -> Descriptor {
        // Non-blocking: a pipe of that name must not hold the thread.
        Descriptor(owning: try call(.open) { bhl_openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0) })
    }

    func openForReading(_ path: String) throws(SystemError) -> Descriptor {
        Descriptor(owning: try call(.open) { bhl_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0) })
    }

    /// Symbolic links followed: whose file it is was looked at when it was handed over.
    func openToSend(_ path: String) throws(SystemError) -> Descriptor {
        Descriptor(owning: try call(.open) { bhl_open(path, O_RDONLY | O_NONBLOCK, 0) })
    }

    func create(in directory: Int32, _ name: String) throws(SystemError) -> Descriptor {
        let number = try call(.create) { bhl_openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600) }
        // The engine has given this file up and will not remove it later.
        if activity?.isRevoked == true { unlinkat(directory, name, 0) }
        return Descriptor(owning: number)
    }

    /// How many bytes were read; 0 at the end of the file.
    func read(_ file: Int32, into buffer: inout [UInt8], at offset: UInt64) throws(SystemError) -> Int {
        try call(.read) { pread(file, &buffer, buffer.count, off_t(offset)) }
    }

    /// Writes all bytes. After an error an unknown number of them was written.
    func write(_ file: Int32, _ bytes: ArraySlice<UInt8>, at offset: UInt64) throws(SystemError) {
        var rest = bytes
        var end = off_t(offset)
        while !rest.isEmpty {
            let count = try call(.write) { rest.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, end) } }
            rest = rest.dropFirst(count)
            end += off_t(count)
        }
    }

    func truncate(_ file: Int32, to length: UInt64) throws(SystemError) {
        _ = try call(.truncate) { ftruncate(file, off_t(length)) }
    }

    func changeMode(_ file: Int32, _ mode: UInt32) throws(SystemError) {
        _ = try call(.changeMode) { fchmod(file, mode & 0o7777) }
    }

    /// The time of the last access stays.
    func changeModificationTime(_ file: Int32, nanoseconds: Int64) throws(SystemError) {
        _ = try call(.changeTimes) { bhl_set_modified(file, nanoseconds) }
    }

    /// Starts writing the file's dirty pages to the disk and does not wait. A hint: whether it worked is for the sync
    /// to say.
    func startWriteBack(_ file: Int32) {
        _ = try? call(.startWriteBack) { sync_file_range(file, 0, 0, UInt32(SYNC_FILE_RANGE_WRITE)) }
    }

    /// Data and length. Any error is final for what was written before: the kernel may have dropped it.
    func syncData(_ file: Int32) throws(SystemError) {
        _ = try call(.sync) { fdatasync(file) }
    }

    /// Data and all attributes.
    func sync(_ file: Int32) throws(SystemError) {
        _ = try call(.sync) { fsync(file) }
    }

    func syncDirectory(_ directory: Int32) throws(SystemError) {
        _ = try call(.syncDirectory) { fsync(directory) }
    }

    func status(_ file: Int32) throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try call(.status) { fstat(file, &status) }
        return FileStatus(status)
    }

    /// Of the name itself, not of what a symbolic link points to. Nil when there is nothing.
    func status(in directory: Int32, _ name: String) throws(SystemError) -> FileStatus? {
        var status = stat()
        do {
            _ = try call(.status) { fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) }
        } catch where error.code == ENOENT {
            return nil
        }
        return FileStatus(status)
    }

    /// Of what the path leads to, symbolic links followed. Nil when there is nothing.
    func status(of path: String) throws(SystemError) -> FileStatus? {
        var status = stat()
        do {
            _ = try call(.status) { fstatat(AT_FDCWD, path, &status, 0) }
        } catch where error.code == ENOENT || error.code == ENOTDIR {
            return nil
        }
        return FileStatus(status)
    }

    /// Of the file system that the file or directory lies on.
    func space(_ descriptor: Int32) throws(SystemError) -> Space {
        var status = statvfs()
        _ = try call(.space) { fstatvfs(descriptor, &status) }
        return Space(status)
    }

    /// With the effective user's rights, which are those that opening and renaming use.
    func checkAccess(_ path: String, _ rights: Int32) throws(SystemError) {
        _ = try call(.status) { faccessat(AT_FDCWD, path, rights, AT_EACCESS) }
    }

    /// One step: `to` is never absent in between and, unless `replace`, never lost. A directory is never replaced.
    func rename(
        _ from: String, in fromDirectory: Int32, to: String, in toDirectory: Int32, replace: Bool
    ) throws(SystemError) {
        do {
            _ = try call(.rename) { bhl_rename(fromDirectory, from, toDirectory, to, replace ? 1 : 0) }
        } catch where !replace && (error.code == EINVAL || error.code == ENOSYS) {
            // NFS and some FUSE file systems know no RENAME_NOREPLACE; link(2) never replaces either.
            _ = try call(.link) { linkat(fromDirectory, from, toDirectory, to, 0) }
            try remove(from, in: fromDirectory)
        }
    }

    /// Another name for a file, in this directory. A symbolic link is not followed.
    func link(_ path: String, to name: String, in directory: Int32) throws(SystemError) {
        _ = try call(.link) { linkat(AT_FDCWD, path, directory, name, 0) }
    }

    /// Shares the content where the file system can (Btrfs, XFS); false where it cannot.
    func clone(_ from: Int32, to: Int32) -> Bool {
        (try? call(.copy) { bhl_clone(to, from) }) != nil
    }

    /// Copies within the kernel. 0 where it cannot, or at the end.
    func copyRange(_ from: Int32, to: Int32, at offset: UInt64, size: Int) throws(SystemError) -> Int {
        do {
            return try call(.copy) { Int(bhl_copy_range(from, to, Int64(clamping: offset), size)) }
        } catch where [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM, EBADF].contains(error.code) {
            return 0
        }
    }

    /// Absent is fine.
    func remove(_ name: String, in directory: Int32) throws(SystemError) {
        do {
            _ = try call(.unlink) { unlinkat(directory, name, 0) }
        } catch where error.code == ENOENT {}
    }
}

/// What stat(2) tells, as far as it matters here.
struct FileStatus: Equatable, Sendable {
    var device: UInt64
    var inode: UInt64
    var size: UInt64
    var isRegular: Bool
    var isDirectory: Bool
    var isLink: Bool
    var linkCount: UInt64
    /// Regular, owned by us, known by one name only: no stranger put it there.
    var isOurs: Bool
    var modifiedNanoseconds: Int64
    /// Of its attributes, too (inode(7), ctime).
    var changedNanoseconds: Int64
    /// The permission bits.
    var mode: UInt32

    init(_ status: stat) {
        var status = status
        device = bhl_device(&status)
        inode = UInt64(status.st_ino)
        size = UInt64(max(0, status.st_size))
        isRegular = status.st_mode & S_IFMT == S_IFREG
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        isLink = status.st_mode & S_IFMT == S_IFLNK
        linkCount = UInt64(status.st_nlink)
        mode = status.st_mode & 0o7777
        let nanoseconds = { (time: timespec) in Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) }
        modifiedNanoseconds = nanoseconds(status.st_mtim)
        changedNanoseconds = nanoseconds(status.st_ctim)
        isOurs = isRegular && status.st_uid == geteuid() && linkCount == 1
    }

    func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}
