public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Reads a file of a request body on a disk thread. Each function returns immediately; the reads are done in the order
/// of the calls. The completion of `read` is called on the disk thread.
public final class BodyReader: Sendable {
    private let id: UInt64
    private let file: BodyFile
    private let path: String
    private let continues: Bool
    private let worker: Worker<DiskContext>
    private let files: FileSystem
    /// The descriptor of the file while it is open. The disk thread opens and closes the file, because a close may wait
    /// for the disk.
    private let openDescriptor = Lock<Descriptor?>(nil)

    init(
        id: UInt64, file: BodyFile, at path: String, continues: Bool, worker: Worker<DiskContext>, files: FileSystem
    ) {
        self.id = id
        self.continues = continues
        self.file = file
        self.path = path
        self.worker = worker
        self.files = files
    }

    /// Reads `count` bytes from `offset`. The file must contain these bytes. After each read, the file's identity, size
    /// and time are compared with those at the enqueue, when the upload was stored as a task. If there is a change, the
    /// read fails. So if the file is changed during an upload, the server never gets a complete body. A read fails with
    /// `bodyChanged`, with `bodyUnavailable` if the file is missing or must not be read, or with a failure of the disk.
    public func read(
        at offset: UInt64, count: Int, then: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) {
        worker.post { [id, file, path, continues, openDescriptor] context in
            let result: Result<[UInt8], Failure>
            // After this block, a file that is not needed any more is closed. The caller may expect this.
            do {
                let body = context.bodies[id] ?? OpenBody(file, at: path, continues: continues, files: context.files)
                result = Result { () throws(Failure) in try body.read(at: offset, count: count) }
                // The file is closed after its last byte was read, because an open file prevents an unmount of its
                // disk.
                let isLast = offset.addingReportingOverflow(UInt64(count)).partialValue >= file.size
                let isOpen = if case .success = result { !isLast } else { false }
                openDescriptor.withLock { $0 = isOpen ? body.descriptor : nil }
                context.bodies[id] = isOpen ? body : nil
            }
            then(result)
        }
    }

    /// Reads bytes that are in the page cache, on the calling thread, without waiting for a disk. Returns the number of
    /// bytes read, at least 1. Returns nil if no byte can be read in this way, or if the file was changed. Then the
    /// caller calls `read`, which reads the bytes or reports the failure. The first call of `read` opens the file, so
    /// before its completion this function returns nil.
    public func readCached(at offset: UInt64, into room: inout MutableRawSpan) -> Int? {
        // The lock is held during the read, so that the disk thread does not close the file.
        openDescriptor.withLock { descriptor in
            guard let descriptor else { return nil }
            do throws(SystemError) {
                let count = try files.readCached(descriptor.number, into: &room, at: offset)
                try OpenBody.check(descriptor, is: file, files)
                return count > 0 ? count : nil
            } catch {
                return nil
            }
        }
    }

    public func close() {
        worker.post { [id, openDescriptor] context in
            openDescriptor.withLock { $0 = nil }
            context.bodies[id] = nil
        }
    }

    deinit { close() }
}

extension DiskThreads {
    /// Returns a reader of the file, without I/O. `path` is the present path of the file, which may be in the store
    /// (the directory of the engine that runs the uploads). `continues`: whether the server has bytes of the body from
    /// an earlier read. Then the file must also have the inode of the enqueue: a program may have replaced the file by
    /// another one of the same size and time.
    public func bodyReader(_ file: BodyFile, at path: String, continues: Bool = false) -> BodyReader {
        BodyReader(
            id: newID(), file: file, at: path, continues: continues, worker: worker(for: path), files: files)
    }
}

/// A file of a request's body while it is read.
final class OpenBody {
    private let file: BodyFile
    private let path: String
    private let continues: Bool
    private let files: FileSystem
    private(set) var descriptor: Descriptor?

    init(_ file: BodyFile, at path: String, continues: Bool = false, files: FileSystem) {
        self.file = file
        self.path = path
        self.continues = continues
        self.files = files
    }

    func read(at offset: UInt64, count: Int) throws(Failure) -> [UInt8] {
        do throws(SystemError) {
            let descriptor = try current()
            var bytes: [UInt8] = []
            while bytes.count < count {
                let next = try files.read(
                    descriptor.number, count: count - bytes.count, at: offset + UInt64(bytes.count))
                // No byte was read, so the file is shorter than before.
                guard !next.isEmpty else { throw SystemError.changed }
                bytes = bytes.isEmpty ? next : bytes + next
            }
            try OpenBody.check(descriptor, is: file, files)
            return bytes
        } catch {
            descriptor = nil
            throw OpenBody.failure(error, file.path)
        }
    }

    /// Checks after a read that the bytes are those of the unchanged file.
    static func check(_ descriptor: Descriptor, is file: BodyFile, _ files: FileSystem) throws(SystemError) {
        guard file.isSame(as: try files.status(descriptor.number)) else { throw SystemError.changed }
    }

    private func current() throws(SystemError) -> Descriptor {
        if let descriptor { return descriptor }
        let opened = try openOrAway()
        // The path may name a directory or a device now, which must not be read.
        let status = try files.status(opened.number)
        guard file.isSame(as: status), !continues || file.hasInode(of: status) else { throw SystemError.changed }
        descriptor = opened
        return opened
    }

    private func openOrAway() throws(SystemError) -> Descriptor {
        do {
            return try files.openToSend(path)
        } catch where [ENOENT, ENOTDIR].contains(error.code) && isAway {
            throw SystemError(code: ENODEV, messageStart: error.messageStart)
        }
    }

    /// Whether the missing file is away with its file system: its directory is on another device than at the enqueue.
    /// After a reboot, the device is unknown. Then an empty directory may be an empty mount point.
    private var isAway: Bool {
        guard file.inode != 0 else { return false }
        let directory = SplitPath(path).directory
        guard let status = try? files.status(of: directory) else { return true }
        if file.device == 0 { return (try? DirectoryReader.textNames(in: directory))?.isEmpty ?? true }
        return status.device != file.device
    }

    static func changed(_ path: String) -> Failure {
        Failure(
            .bodyChanged,
            "the body's file \(path) was changed after it was enqueued; enqueue it again, or as a snapshot")
    }

    static func failure(_ error: SystemError, _ path: String) -> Failure {
        if error.code == SystemError.changed.code { return changed(path) }
        let failure = Failure.disk(error, "the body's file \(path)")
        guard failure.status == .destinationUnavailable else { return failure }
        return .system(.bodyUnavailable, code: error.code, "the body's file \(path) cannot be read: \(error)")
    }
}

extension SystemError {
    /// The file was changed after the enqueue. The code -1 is not an errno of the system.
    static let changed = SystemError(code: -1, messageStart: "Changed:")
}

extension BodyFile {
    /// Returns whether the status is that of this file: its size and its time of modification are the same. Device and
    /// inode are not compared, because a remount may change them. If the inode is 0, the file is a copy in the store.
    /// The name of a copy identifies it, so only the size is compared.
    func isSame(as status: FileStatus) -> Bool {
        guard status.isRegular, status.size == size else { return false }
        return inode == 0 || status.modifiedNanoseconds == modifiedNanoseconds
    }

    /// Returns whether the status has the inode of this file. Device numbers change with each mount, and some file
    /// systems change inodes, too.
    func hasInode(of status: FileStatus) -> Bool { inode == 0 || status.inode == inode }
}
