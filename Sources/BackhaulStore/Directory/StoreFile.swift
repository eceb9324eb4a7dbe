public import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

extension StoreDirectory {
    /// Makes the folders of kept files and of request bodies, and syncs the path to them. Only the user can access the
    /// folders. The engine, which runs uploads and downloads, calls this function before it makes the database. So a
    /// database shows that the path was synced.
    public func makeFolders() throws(Failure) {
        var needsSync = try sizeOfFile(Schema.fileName) == nil
        for name in Self.folderNames {
            if mkdirat(descriptor.number, name, 0o700) == 0 {
                needsSync = true
            } else if bhl_errno() != EEXIST {
                throw fileFailure(name)
            }
        }
        if needsSync { try syncPath() }
    }

    /// Syncs the names of the folders, of the store and of the directories above it, so that they survive a power loss.
    /// A consumed file is a file that was moved into the store for an upload. The folder `bodies` has the only copy of
    /// this file.
    ///
    /// The directories may be new although they exist: the process that made them, such as a host or the command line,
    /// may have been killed, or may have left the sync to the engine. A mount point existed before its mount, so the
    /// directories above it are not synced.
    private func syncPath() throws(Failure) {
        try sync(descriptor.number, "folders")
        var (steps, below) = ("..", identity)
        while let above = FileIdentity(at: steps, from: descriptor.number), above != below,
            above.device == below.device
        {
            // This user may be allowed to pass through a directory, and not to open it.
            let number = bhl_openat(descriptor.number, steps, O_RDONLY | O_DIRECTORY, 0)
            if number >= 0 {
                try? FileSync.sync(number)
                close(number)
            }
            (steps, below) = (steps + "/..", above)
        }
    }

    /// Syncs an open file or folder. `name`: what a failure names.
    func sync(_ number: Int32, _ name: String) throws(Failure) {
        do throws(SystemError) {
            try FileSync.sync(number)
        } catch {
            throw fileFailure(name, error.code)
        }
    }

    /// Opens a file of the store for reading and writing. If the file does not exist, makes it with mode 0600. The
    /// umask does not change this mode.
    func openFile(_ name: String) throws(Failure) -> Descriptor {
        var number = bhl_openat(descriptor.number, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0)
        if number < 0, bhl_errno() == ENOENT {
            number = bhl_openat(descriptor.number, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
            if number >= 0 {
                fchmod(number, 0o600)
                try? FileSync.sync(descriptor.number)
            }
        }
        guard number < 0 else { return Descriptor(owning: number) }
        throw fileFailure(name)
    }

    /// Opens a file or folder of the store. Returns nil if it does not exist, or if it is a link. Throws if the disk
    /// does not report whether it exists.
    func openIfPresent(_ name: String, _ flags: Int32) throws(Failure) -> Descriptor? {
        let number = bhl_openat(descriptor.number, name, flags | O_NOFOLLOW, 0)
        guard number < 0 else { return Descriptor(owning: number) }
        guard [ENOENT, ENOTDIR, ELOOP].contains(bhl_errno()) else { throw fileFailure(name) }
        return nil
    }

    /// Returns a path to a file of the store. The path is short even if the store's path is long, and stays valid when
    /// the store is renamed.
    func reachablePath(of name: String) -> String { "/proc/self/fd/\(descriptor.number)/\(name)" }

    /// Returns the size of a file of the store in bytes, or nil if the file does not exist. Throws if the disk does
    /// not report whether the file exists.
    public func sizeOfFile(_ name: String) throws(Failure) -> Int? {
        var status = stat()
        guard fstatat(descriptor.number, name, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0 else {
            guard bhl_errno() == ENOENT else { throw fileFailure(name) }
            return nil
        }
        return Int(status.st_size)
    }

    /// The names of the daemon's logs: the present one and the one before.
    public static let daemonLogNames = ["daemon.log", "daemon.log.1"]

    /// The sizes of the store's files. This call waits for the disk.
    var sizes: StoreSizes {
        var sizes = StoreSizes()
        sizes.database = knownSize(Schema.fileName)
        sizes.writeAheadLog = knownSize(Schema.walName)
        sizes.daemonLogs = Self.daemonLogNames.reduce(0) { sum, name in
            sum.flatMap { sum in knownSize(name).map { sum + $0 } }
        }
        var space = statvfs()
        if fstatvfs(descriptor.number, &space) == 0 { sizes.free = space.availableBytes }
        return sizes
    }

    /// The size of a file; 0 if the file does not exist, and nil if the disk does not report whether it exists.
    private func knownSize(_ name: String) -> UInt64? {
        do throws(Failure) {
            return UInt64(clamping: try sizeOfFile(name) ?? 0)
        } catch {
            return nil
        }
    }

    /// Returns the last `size` bytes of a file of the store as text, or nil if they cannot be read.
    public func endOfFile(_ name: String, size: Int) -> String? {
        let number = bhl_openat(descriptor.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        guard number >= 0 else { return nil }
        let file = Descriptor(owning: number)
        var status = stat()
        guard fstat(file.number, &status) == 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: size)
        let count = pread(file.number, &buffer, size, max(0, status.st_size - off_t(size)))
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// Tries to write a small file in the store. Returns why the write fails, or nil. The caller uses the result to
    /// explain a failure that could not be logged. Before the call, the thread must block SIGXFSZ, or the process must
    /// ignore this signal. The kernel sends SIGXFSZ if a write exceeds the limit on the size of files.
    public func writeFailure() -> Failure? {
        let name = ".space-\(getpid())"
        let number = bhl_openat(descriptor.number, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
        guard number >= 0 else { return bhl_errno() == EEXIST ? nil : fileFailure("files") }
        let file = Descriptor(owning: number)
        defer { unlinkat(descriptor.number, name, 0) }
        var byte: UInt8 = 0
        return write(file.number, &byte, 1) == 1 && fsync(file.number) == 0 ? nil : fileFailure("files")
    }

    /// Writes all bytes at the offset in a file of the store.
    func writeAll(_ bytes: ArraySlice<UInt8>, to file: Descriptor, _ name: String, at offset: Int) throws(Failure) {
        do throws(SystemError) {
            try file.write(bytes, at: offset)
        } catch {
            throw fileFailure(name, error.code)
        }
    }

    /// Returns the failure for an errno, after a failed system call on a file of the store.
    func fileFailure(_ name: String, _ code: Int32 = bhl_errno()) -> Failure {
        let reason = SystemError.reason(of: code)
        switch code {
        case ENOSPC, EDQUOT:
            return .system(.storeFull, code: code, "the store's \(name) cannot be made: \(reason); free some space")
        case EFBIG:
            return .system(
                .storeFull, code: code,
                "the store's \(name) cannot be written: \(reason); raise the limit of a file's size (ulimit -f)")
        case EROFS, EACCES, EPERM:
            return .system(.storeReadOnly, code: code, "the store's \(path)/\(name) cannot be written: \(reason)")
        case EMFILE, ENFILE, ENOMEM:
            return .system(.outOfResources, code: code, "the store's \(name) cannot be opened: \(reason)")
        default:
            return .system(.storeUnavailable, code: code, "the store's \(path)/\(name) cannot be used: \(reason)")
        }
    }
}

extension statvfs {
    /// The bytes that are free for the user. A FUSE server may report a number that exceeds 64 bits.
    var availableBytes: UInt64 {
        let (bytes, overflow) = UInt64(f_bavail).multipliedReportingOverflow(by: UInt64(f_frsize))
        return overflow ? .max : bytes
    }
}
