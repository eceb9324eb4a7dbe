public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Reads a file of a request's body, in order, on a disk thread. Each function returns at once; its completion is
/// called on the disk thread.
public final class BodyReader: Sendable {
    private let id: UInt64
    private let file: BodyFile
    private let path: String
    private let worker: Worker<DiskContext>

    init(id: UInt64, file: BodyFile, at path: String, worker: Worker<DiskContext>) {
        self.id = id
        self.file = file
        self.path = path
        self.worker = worker
    }

    /// `count` bytes from `offset`, both inside of the file. The file is compared with what the host handed over before
    /// and after each of these, and before the bytes are given: so nobody is sent all of a file that was changed
    /// meanwhile. Fails with `bodyChanged` or `bodyUnavailable`.
    public func read(
        at offset: UInt64, count: Int, then: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) {
        worker.post { [id, file, path] context in
            let body = context.bodies[id] ?? OpenBody(file, at: path, files: context.files)
            let result = Result { () throws(Failure) in try body.read(at: offset, count: count) }
            // An open file keeps its disk from being unmounted: not longer than needed.
            let isLast = offset.addingReportingOverflow(UInt64(count)).partialValue >= file.size
            if case .success = result, !isLast { context.bodies[id] = body } else { context.bodies[id] = nil }
            then(result)
        }
    }

    public func close() {
        worker.post { [id] context in context.bodies[id] = nil }
    }

    deinit { close() }
}

extension DiskThreads {
    /// No I/O yet. `path`: where the file lies, which may be in the store.
    public func bodyReader(_ file: BodyFile, at path: String) -> BodyReader {
        BodyReader(id: newID(), file: file, at: path, worker: worker(for: path))
    }
}

/// A file of a body that is being read.
final class OpenBody {
    private let file: BodyFile
    private let path: String
    private let files: FileSystem
    private var descriptor: Descriptor?

    init(_ file: BodyFile, at path: String, files: FileSystem) {
        self.file = file
        self.path = path
        self.files = files
    }

    func read(at offset: UInt64, count: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        do throws(SystemError) {
            let descriptor = try current()
            guard isUnchanged(try files.status(descriptor.number)) else { throw SystemError.changed }
            var filled = count == 0 ? 0 : try files.read(descriptor.number, into: &bytes, at: offset)
            while filled < count {
                var rest = [UInt8](repeating: 0, count: count - filled)
                let got = try files.read(descriptor.number, into: &rest, at: offset + UInt64(filled))
                // Shorter than it was.
                guard got > 0 else { throw SystemError.changed }
                bytes.replaceSubrange(filled..<filled + got, with: rest[..<got])
                filled += got
            }
            guard isUnchanged(try files.status(descriptor.number)) else { throw SystemError.changed }
            // A host that closes every descriptor may have opened its own under this number, and it is not to be sent.
            guard descriptor.isOurs else { throw SystemError(code: EBADF, attempt: "Cannot read") }
            return bytes
        } catch {
            descriptor = nil
            throw OpenBody.failure(error, file.path)
        }
    }

    private func current() throws(SystemError) -> Descriptor {
        if let descriptor, descriptor.isOurs { return descriptor }
        descriptor = nil
        let opened = try files.openToSend(path)
        descriptor = opened
        return opened
    }

    private func isUnchanged(_ status: FileStatus) -> Bool { file.isSame(as: status) }

    static func changed(_ path: String) -> Failure {
        Failure(
            .bodyChanged,
            "the body's file \(path) was changed after it was handed over; hand it over again, or as a snapshot")
    }

    static func failure(_ error: SystemError, _ path: String) -> Failure {
        if error.code == SystemError.changed.code { return changed(path) }
        return .system(
            error.isExhaustion ? .outOfResources : .bodyUnavailable, code: error.code,
            "the body's file \(path) cannot be read: \(error)")
    }
}

extension SystemError {
    /// No code of the system's.
    static let changed = SystemError(code: -1, attempt: "Changed:")
}

extension BodyFile {
    /// A device or inode of 0 is not known: a file system may get another number at each boot, and a copy of our own is
    /// known by its name.
    func isSame(as status: FileStatus) -> Bool {
        guard status.isRegular, status.size == size else { return false }
        if inode == 0 { return true }
        return [0, status.device].contains(device) && status.inode == inode
            && status.modifiedNanoseconds == modifiedNanoseconds
    }
}
