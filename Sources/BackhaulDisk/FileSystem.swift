internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The system calls on files. A call that fails throws a `SystemError`, which names the operation. In debug builds, a
/// call first checks whether the fault plan of a test makes it fail. Release builds do not contain fault plans.
struct FileSystem: Sendable {
    #if DEBUG
    var faults: FaultPlan?
    #endif

    /// The part file that the calling thread is changing, and whether this thread may make further system calls. After
    /// a call of `DiskActivity.revoke`, all calls fail.
    var activity: DiskActivity?

    var batchSync = BatchSyncSupport()

    /// Nil outside of disk threads.
    var identities: FileSystemIdentities?

    /// Measures all syncs; nil outside of disk threads.
    var syncDurations: SyncDurations?

    init() {}

    private func call<Number: SignedInteger>(
        _ operation: FileOperation, _ body: () -> Number
    ) throws(SystemError) -> Number {
        if activity?.isRevoked == true { throw SystemError(code: ECANCELED, messageStart: operation.messageStart) }
        #if DEBUG
        if let code = faults?.next(operation) { throw SystemError(code: code, messageStart: operation.messageStart) }
        #endif
        while true {
            let result = body()
            if result >= 0 { return result }
            let code = bhl_errno()
            // A sync is never repeated: a second sync may succeed although the data of the first sync was lost
            // (fsync(2)).
            if code != EINTR || [.sync, .syncFileSystem, .syncDirectory].contains(operation) {
                throw SystemError(code: code, messageStart: operation.messageStart)
            }
        }
    }

    func openDirectory(_ path: String) throws(SystemError) -> Descriptor {
        Descriptor(owning: try call(.openDirectory) { bhl_open(path, O_RDONLY | O_DIRECTORY, 0) })
    }

    /// Opens one step of a path: a directory, or, if `isLink` is true, a symbolic link itself.
    func openPlace(in directory: Int32, _ name: String, isLink: Bool) throws(SystemError) -> Descriptor {
        Descriptor(owning: try call(.openDirectory) { bhl_open_place(directory, name, isLink ? 1 : 0) })
    }

    /// Returns the path to which a symbolic link leads. `link` is a descriptor from `openPlace`.
    func target(ofLink link: Int32) throws(SystemError) -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try call(.status) { readlinkat(link, "", &bytes, bytes.count) }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func open(in directory: Int32, _ name: String) throws(SystemError) -> Descriptor {
        // O_NONBLOCK is set, so that a pipe with this name does not block the thread.
        Descriptor(owning: try call(.open) { bhl_openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0) })
    }

    /// Opens a file of this user. A crash may have left it with a mode that does not permit this.
    func open(in directory: Int32, ownNamed name: String) throws(SystemError) -> Descriptor {
        do {
            return try open(in: directory, name)
        } catch where error.code == EACCES {
            try changeMode(in: directory, name, 0o600)
            return try open(in: directory, name)
        }
    }

    func openForReading(_ path: String) throws(SystemError) -> Descriptor {
        try openForReading(in: AT_FDCWD, path)
    }

    func openForReading(in directory: Int32, _ name: String) throws(SystemError) -> Descriptor {
        Descriptor(owning: try call(.open) { bhl_openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0) })
    }

    /// Opens a file of a request body, and follows symbolic links. The caller then compares the file's identity with
    /// the identity at the time when the upload was enqueued.
    ///
    /// A file that was just written could get another content, and keep its time of modification, which is that of the
    /// kernel's last tick. So this function waits for the next tick: on a local file system, each change after it gets
    /// another time.
    func openToSend(_ path: String) throws(SystemError) -> Descriptor {
        let opened = Descriptor(owning: try call(.open) { bhl_open(path, O_RDONLY | O_NONBLOCK, 0) })
        let age = Clock.wallMilliseconds - (try status(opened.number)).modifiedNanoseconds / 1_000_000
        if (0..<Self.longestTickMilliseconds).contains(age) {
            var wait = timespec(tv_sec: 0, tv_nsec: Int(Self.longestTickMilliseconds - age) * 1_000_000)
            withUnsafeMutablePointer(to: &wait) { while nanosleep($0, $0) != 0, errno == EINTR {} }
        }
        return opened
    }

    /// The ticks of a kernel with CONFIG_HZ=100 are 10 ms apart. Milliseconds are rounded.
    private static let longestTickMilliseconds: Int64 = 12

    /// Creates the file. Fails if a file with this name exists. The process's umask applies to `mode`.
    func create(in directory: Int32, _ name: String, mode: UInt32 = 0o600) throws(SystemError) -> Descriptor {
        let number: Int32
        do {
            number = try call(.create) { bhl_openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode) }
        } catch where error.code == ENOSPC {
            var error = error
            error.lacksInodes = (try? space(directory).hasFreeInodes) == false
            throw error
        }
        // The engine owns the disk threads. If the engine has given up this thread, the engine will not remove the new
        // file later. So the file is removed now.
        if activity?.isRevoked == true { unlinkat(directory, name, 0) }
        return Descriptor(owning: number)
    }

    /// Returns the number of bytes read; 0 at the end of the file.
    func read(_ file: Int32, into buffer: inout [UInt8], at offset: UInt64) throws(SystemError) -> Int {
        try call(.read) { pread(file, &buffer, buffer.count, off_t(offset)) }
    }

    /// Returns the next bytes of the file, at most `count`. An empty result means the end of the file.
    func read(_ file: Int32, count: Int, at offset: UInt64) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        // The buffer is not filled with zeros first: that would take as long as the read.
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) {
                filled = try call(.read) { pread(file, buffer.baseAddress, count, off_t(offset)) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Reads bytes that are in the page cache, without waiting for a disk. Returns the number of bytes read, which may
    /// be less than the size of `room`; 0 at the end of the file. Fails with EAGAIN if the first byte is not in the
    /// page cache, and with EOPNOTSUPP if the file system has no such reads.
    func readCached(_ file: Int32, into room: inout MutableRawSpan, at offset: UInt64) throws(SystemError) -> Int {
        try room.withUnsafeMutableBytes { (buffer) throws(SystemError) in
            try call(.read) { bhl_read_cached(file, buffer.baseAddress, buffer.count, Int64(offset)) }
        }
    }

    /// Writes all bytes. After an error, some of the bytes may be written.
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

    /// Sets the permissions. Some file systems have none, for example FAT: their mount options decide.
    func changeMode(_ file: Int32, _ mode: UInt32) throws(SystemError) {
        do {
            _ = try call(.changeMode) { fchmod(file, mode & 0o7777) }
        } catch where [EPERM, ENOSYS, EOPNOTSUPP].contains(error.code) {}
    }

    /// Sets the permissions of a file that this user cannot open.
    func changeMode(in directory: Int32, _ name: String, _ mode: UInt32) throws(SystemError) {
        _ = try call(.changeMode) { fchmodat(directory, name, mode & 0o7777, 0) }
    }

    /// If `owner` is nil, changes only the group.
    func changeOwner(_ file: Int32, _ owner: UInt32?, _ group: UInt32) throws(SystemError) {
        _ = try call(.changeMode) { fchown(file, owner ?? .max, group) }
    }

    func attributeNames(of file: Int32) throws(SystemError) -> [String] {
        try extended { flistxattr(file, $0, $1) }.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    func attribute(_ name: String, of file: Int32) throws(SystemError) -> [UInt8] {
        try extended { fgetxattr(file, name, $0, $1) }
    }

    func setAttribute(_ name: String, of file: Int32, _ value: [UInt8]) throws(SystemError) {
        _ = try call(.changeMode) { fsetxattr(file, name, value, value.count, 0) }
    }

    /// Reads names or values of extended attributes, which have at most 64 KiB (xattr(7)). Most of them are short.
    /// Unsafe: the pointer is valid during the call of `read`.
    private func extended(
        _ read: (UnsafeMutablePointer<CChar>?, Int) -> Int
    ) throws(SystemError) -> [UInt8] {
        for size in [1_024, 65_536] {
            var bytes = [CChar](repeating: 0, count: size)
            do {
                let count = try call(.status) { read(&bytes, size) }
                return bytes[..<count].map { UInt8(bitPattern: $0) }
            } catch where error.code == ERANGE && size == 1_024 {}
        }
        return []
    }

    /// Sets the time of modification. The time of the last access does not change.
    func changeModificationTime(_ file: Int32, nanoseconds: Int64) throws(SystemError) {
        _ = try call(.changeTimes) { bhl_set_modified(file, nanoseconds) }
    }

    /// Makes the kernel start to write the file's dirty pages to the disk, without waiting. Errors are ignored, because
    /// a later sync reports them.
    func startWriteBack(_ file: Int32) {
        _ = try? call(.startWriteBack) { sync_file_range(file, 0, 0, UInt32(SYNC_FILE_RANGE_WRITE)) }
    }

    /// Syncs the file's data and length. After an error, the data since the last sync may be lost, because the kernel
    /// may have dropped the pages of this data.
    func syncData(_ file: Int32) throws(SystemError) {
        try sync(.sync, file) { fdatasync(file) }
    }

    /// Syncs the file's data and all its attributes.
    func sync(_ file: Int32) throws(SystemError) {
        try sync(.sync, file) { fsync(file) }
    }

    private func sync(_ operation: FileOperation, _ file: Int32, _ body: () -> Int32) throws(SystemError) {
        try FileSync.sync(
            { () throws(SystemError) in _ = try measured { () throws(SystemError) in try call(operation, body) } },
            orFileSystem: { () throws(SystemError) in try syncFileSystem(file) })
    }

    /// Syncs all files and names of the file system that has this file or directory. Reports errors of writes since the
    /// descriptor was opened.
    func syncFileSystem(_ descriptor: Int32) throws(SystemError) {
        _ = try measured { () throws(SystemError) in try call(.syncFileSystem) { syncfs(descriptor) } }
    }

    /// Measures a sync. A sync that fails does not count.
    private func measured(_ sync: () throws(SystemError) -> Int32) throws(SystemError) -> Int32 {
        let began = Clock.bootMicroseconds
        let result = try sync()
        syncDurations?.add(microseconds: Clock.bootMicroseconds - began)
        return result
    }

    func syncDirectory(_ directory: Int32) throws(SystemError) {
        try sync(.syncDirectory, directory) { fsync(directory) }
    }

    func status(_ file: Int32) throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try call(.status) { fstat(file, &status) }
        return FileStatus(status)
    }

    /// Returns the status of the file with this name, or nil if there is none. A symbolic link is not followed.
    func status(in directory: Int32, _ name: String) throws(SystemError) -> FileStatus? {
        var status = stat()
        do {
            _ = try call(.status) { fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) }
        } catch where error.code == ENOENT {
            return nil
        }
        return FileStatus(status)
    }

    /// Returns the status of the file to which the path leads, or nil if there is none. Symbolic links are followed.
    func status(of path: String) throws(SystemError) -> FileStatus? {
        var status = stat()
        do {
            _ = try call(.status) { fstatat(AT_FDCWD, path, &status, 0) }
        } catch where error.code == ENOENT || error.code == ENOTDIR {
            return nil
        }
        return FileStatus(status)
    }

    /// Returns nil if the path leads to no file, or to a file that this user must not reach or read. All other errors
    /// leave open whether there is such a file, so they are thrown.
    func ifReachable<Value>(_ body: () throws(SystemError) -> Value?) throws(SystemError) -> Value? {
        do {
            return try body()
        } catch where [ENOENT, ENOTDIR, ELOOP, EACCES, EPERM].contains(error.code) {
            return nil
        }
    }

    /// Whether a file or directory is mounted at the path.
    func isMountPoint(_ path: String) -> Bool { bhl_is_mount_point(path) == 1 }

    /// Returns the space of the file system that has this file or directory.
    func space(_ descriptor: Int32) throws(SystemError) -> FileSystemSpace {
        var status = statfs()
        _ = try call(.space) { fstatfs(descriptor, &status) }
        return FileSystemSpace(status)
    }

    /// Checks the rights of the effective user, because the kernel also uses that user for open and rename.
    func checkAccess(_ path: String, _ rights: Int32) throws(SystemError) {
        _ = try call(.status) { faccessat(AT_FDCWD, path, rights, AT_EACCESS) }
    }

    /// Renames a file. An existing file `to` is replaced only if `replace` is true. The replacement is one atomic step,
    /// so the name `to` exists at every moment. A directory is never replaced.
    func rename(
        _ from: String, in fromDirectory: Int32, to: String, in toDirectory: Int32, replace: Bool
    ) throws(SystemError) {
        do {
            _ = try call(.rename) { bhl_rename(fromDirectory, from, toDirectory, to, replace ? 1 : 0) }
        } catch where !replace && [EINVAL, ENOSYS, EOPNOTSUPP].contains(error.code) {
            // NFS and some FUSE file systems do not support RENAME_NOREPLACE. Instead, link(2) is used, which never
            // replaces a file.
            do {
                _ = try call(.link) { linkat(fromDirectory, from, toDirectory, to, 0) }
            } catch where [EPERM, EINVAL, ENOSYS, EOPNOTSUPP, EMLINK].contains(error.code) {
                try makePlaceholder(for: from, in: fromDirectory, named: to, in: toDirectory)
                return try renameOverPlaceholder(from, in: fromDirectory, to: to, in: toDirectory)
            }
            try remove(from, in: fromDirectory)
        } catch where !replace && error.code == EEXIST {
            guard try isPlaceholder(for: from, in: fromDirectory, named: to, in: toDirectory) else { throw error }
            try finishPlaceholder(for: from, in: fromDirectory, named: to, in: toDirectory)
            try renameOverPlaceholder(from, in: fromDirectory, to: to, in: toDirectory)
        }
    }

    /// Takes a name on a file system that has neither RENAME_NOREPLACE nor hard links: makes a file, whose content
    /// shows after a crash which file was to get the name. If the crash comes before the content is written, the time
    /// of modification of the file `from` shows when the name was to be taken. Each step is synced before the next one,
    /// so that this is also true after a power loss.
    private func makePlaceholder(
        for from: String, in fromDirectory: Int32, named to: String, in directory: Int32
    ) throws(SystemError) {
        let modified = try status(in: fromDirectory, from)?.modifiedNanoseconds
        let now = Clock.wallMilliseconds * 1_000_000
        setModified(from, in: fromDirectory, nanoseconds: now - Self.placeholderMark)
        // A time before that is the mark of an engine that has crashed.
        let oldest = now - Self.placeholderMark + 365 * 86_400 * 1_000_000_000
        let restored = modified.map { $0 > oldest ? $0 : now } ?? now
        defer { setModified(from, in: fromDirectory, nanoseconds: restored) }
        try fill(try create(in: directory, to), placeholderFor: from, named: to, in: directory)
    }

    /// Finishes a placeholder whose making a crash has interrupted. The earlier time of the file `from` identifies an
    /// empty placeholder, so it changes only after the content is synced. It changes before the rename, because no
    /// later engine corrects the time of a finished file.
    private func finishPlaceholder(
        for from: String, in fromDirectory: Int32, named to: String, in directory: Int32
    ) throws(SystemError) {
        try fill(try open(in: directory, ownNamed: to), placeholderFor: from, named: to, in: directory)
        setModified(from, in: fromDirectory, nanoseconds: Clock.wallMilliseconds * 1_000_000)
    }

    /// Writes and syncs the content of the placeholder `to`. After an error, removes the placeholder.
    private func fill(
        _ file: Descriptor, placeholderFor from: String, named to: String, in directory: Int32
    ) throws(SystemError) {
        do {
            try write(file.number, Self.placeholder(for: from)[...], at: 0)
            try sync(file.number)
        } catch {
            try? remove(to, in: directory)
            throw error
        }
    }

    private func renameOverPlaceholder(
        _ from: String, in fromDirectory: Int32, to: String, in toDirectory: Int32
    ) throws(SystemError) {
        do {
            _ = try call(.rename) { bhl_rename(fromDirectory, from, toDirectory, to, 1) }
        } catch {
            if (try? isPlaceholder(for: from, in: fromDirectory, named: to, in: toDirectory)) == true {
                try? remove(to, in: toDirectory)
            }
            throw error
        }
    }

    /// Whether the file `to` is a placeholder, which a crash has left, for the file `from`.
    func isPlaceholder(
        for from: String, in fromDirectory: Int32, named to: String, in directory: Int32
    ) throws(SystemError) -> Bool {
        let content = Self.placeholder(for: from)
        guard let found = try status(in: directory, to), found.isRegular else { return false }
        if found.size == 0, let marked = try status(in: fromDirectory, from) {
            let taken = marked.modifiedNanoseconds &+ Self.placeholderMark
            let delay = found.modifiedNanoseconds &- taken
            return found.owner == marked.owner && Self.placeholderDelays.contains(delay)
        }
        guard found.size == content.count,
            let file = try ifReachable({ () throws(SystemError) in try openForReading(in: directory, to) })
        else { return false }
        return try read(file.number, count: content.count, at: 0) == content
    }

    /// While a placeholder is made, the time of the other file is earlier by these 36 years.
    private static let placeholderMark: Int64 = 1_136_000_000 * 1_000_000_000
    /// How much the time of an empty placeholder may differ. The sync of the other file's time may be slow, and FAT
    /// stores times in units of two seconds.
    private static let placeholderDelays: ClosedRange<Int64> = -2_000_000_000...30_000_000_000

    /// Sets and syncs the time of modification. Errors are ignored. Then an empty placeholder is not recognised after a
    /// crash.
    private func setModified(_ name: String, in directory: Int32, nanoseconds: Int64) {
        guard let file = try? open(in: directory, ownNamed: name) else { return }
        try? changeModificationTime(file.number, nanoseconds: nanoseconds)
        try? sync(file.number)
    }

    private static func placeholder(for name: String) -> [UInt8] { Array("backhaul: this file becomes \(name)".utf8) }

    /// Makes a hard link `name` in the directory, to the file at `path`. A symbolic link is not followed.
    func link(_ path: String, to name: String, in directory: Int32) throws(SystemError) {
        _ = try call(.link) { linkat(AT_FDCWD, path, directory, name, 0) }
    }

    /// Makes the new file `to` share the content of the file `from` (reflink). Returns false if the file system does
    /// not support this.
    func clone(_ from: Int32, to: Int32) -> Bool {
        (try? call(.copy) { bhl_clone(to, from) }) != nil
    }

    /// Copies bytes within the kernel. Returns the number of copied bytes. This number is 0 at the end of the file, or
    /// if the file systems do not support such a copy.
    func copyRange(_ from: Int32, to: Int32, at offset: UInt64, size: Int) throws(SystemError) -> Int {
        do {
            return try call(.copy) { Int(bhl_copy_range(from, to, Int64(clamping: offset), size)) }
        } catch where [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM, EBADF].contains(error.code) {
            return 0
        }
    }

    /// Copies at most `size` bytes to the same place of another file, and starts to write them to the disk. Returns the
    /// number of copied bytes; 0 at the end of the file.
    func copySlice(_ from: Int32, to: Int32, at offset: UInt64, size: Int) throws(SystemError) -> Int {
        let bytes = try read(from, count: size, at: offset)
        guard !bytes.isEmpty else { return 0 }
        try write(to, bytes[...], at: offset)
        startWriteBack(to)
        return bytes.count
    }

    /// Removes the file. It is not an error if the file is missing.
    func remove(_ name: String, in directory: Int32) throws(SystemError) {
        do {
            _ = try call(.unlink) { unlinkat(directory, name, 0) }
        } catch where error.code == ENOENT {}
    }
}
