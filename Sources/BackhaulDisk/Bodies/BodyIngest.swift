internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Takes one file of a request body into the store, which is the engine's directory. The file is linked or copied. If
/// the file is sent from its own place, it is only checked. A copy is made in slices, so that the disk thread can do
/// other work between the slices.
final class BodyIngest {
    private static let sliceSize = 16 << 20

    private let body: IngestedBody
    private let folder: String
    private let forbidden: [FileIdentity]
    private let files: FileSystem
    private var source: Descriptor?
    private var copy: Descriptor?
    private var copied: UInt64 = 0
    /// The space on the store's file system; nil until it is measured before a copy.
    private var space: FileSystemSpace?
    private var result: BodyFile
    private var path: String { body.file.path }

    init(_ body: IngestedBody, in folder: String, forbidden: [FileIdentity], files: FileSystem) {
        self.body = body
        self.folder = folder
        self.forbidden = forbidden
        self.files = files
        result = body.file
    }

    /// Performs the next step. Returns false if more steps follow.
    func advance() throws(Failure) -> Bool {
        do throws(SystemError) {
            if source == nil, try start() { return true }
            return try continueCopy()
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: SystemError) -> Failure {
        guard [ENOSPC, EDQUOT].contains(error.code) else { return OpenBody.failure(error, path) }
        let numbers = space.map { ", \(body.file.size) bytes: \($0.available) of \($0.total) are left" } ?? ""
        return .system(
            .storeFull, code: error.code, "the store has no space for the body's file \(path)\(numbers); free some")
    }

    /// Syncs the file in the store, and then calls `then` with the file from which the body must be read.
    func finish(_ context: DiskContext, then: @escaping @Sendable (Result<BodyFile, Failure>) -> Void) {
        if body.source == .consume {
            self.result.fileSystem = (try? context.directories.directory(at: SplitPath(path).directory))?.identity
        }
        let result = result
        guard result.storedName != nil, let file = copy ?? source else { return then(.success(result)) }
        context.sync(file, in: folder) { error in
            then(error.map { .failure(self.failure($0)) } ?? .success(result))
        }
    }

    private func start() throws(SystemError) -> Bool {
        let source = try files.openToSend(path)
        self.source = source
        guard body.file.isSame(as: try files.status(source.number)) else { throw .changed }
        switch body.source {
        case .reference: return true
        case .snapshot: return try startCopy(source)
        case .consume: return try link() ? true : startCopy(source)
        }
    }

    private func link() throws(SystemError) -> Bool {
        let parent = try files.status(of: SplitPath(path).directory)
        if let parent, forbidden.contains(FileIdentity(device: parent.device, inode: parent.inode)) {
            throw SystemError(code: EPERM, messageStart: "cannot consume a file of the store")
        }
        guard let named = try files.status(in: AT_FDCWD, path), named.isRegular else {
            throw SystemError(code: ELOOP, messageStart: "cannot consume by way of a symbolic link")
        }
        // The engine removes the old name of the file later. For this, it needs write access to the directory.
        try files.checkAccess(SplitPath(path).directory, W_OK | X_OK)
        let directory = try files.openDirectory(folder)
        do {
            try files.link(path, to: body.name, in: directory.number)
        } catch where [EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS].contains(error.code) {
            // The store is on another file system, or the file system has no hard links, so the file is copied.
            return false
        }
        guard let linked = try files.status(in: directory.number, body.name), body.file.isSame(as: linked) else {
            throw .changed
        }
        result.storedName = body.name
        return true
    }

    private func startCopy(_ source: Descriptor) throws(SystemError) -> Bool {
        let directory = try files.openDirectory(folder)
        let copy = try files.create(in: directory.number, body.name)
        self.copy = copy
        if files.clone(source.number, to: copy.number) { return try endCopy(source, copy) }
        // The space is checked before the first byte is copied: a copy that fills the disk harms all programs that
        // write to this disk.
        let space = try files.space(copy.number)
        self.space = space
        guard space.fits(body.file.size) else { throw SystemError(code: ENOSPC, messageStart: "cannot copy") }
        return false
    }

    private func continueCopy() throws(SystemError) -> Bool {
        guard let source, let copy else { return true }
        guard copied < body.file.size else { return try endCopy(source, copy) }
        var count = try files.copyRange(source.number, to: copy.number, at: copied, size: Self.sliceSize)
        if count > 0 {
            files.startWriteBack(copy.number)
        } else {
            let size = Int(min(UInt64(Self.sliceSize), body.file.size - copied))
            count = try files.copySlice(source.number, to: copy.number, at: copied, size: size)
            guard count > 0 else { throw .changed }
        }
        copied += UInt64(count)
        return copied >= body.file.size ? try endCopy(source, copy) : false
    }

    private func endCopy(_ source: Descriptor, _ copy: Descriptor) throws(SystemError) -> Bool {
        // If the file changed during the copy, the copy may contain parts of both versions.
        guard body.file.isSame(as: try files.status(source.number)),
            try files.status(copy.number).size == body.file.size
        else { throw .changed }
        // A consumed file is moved into the store. It may be moved back to its old path later, and then needs its old
        // attributes. A snapshot needs no attributes, because the original file stays at its path.
        if body.source == .consume { try? files.copyAttributes(from: try files.status(source.number), copy.number) }
        result.storedName = body.name
        (result.device, result.inode) = (0, 0)
        return true
    }
}

extension DiskContext {
    /// Removes the old name of a consumed file. `isDone` is false if the name may be away with its file system.
    func removeConsumed(_ file: BodyFile, then: @escaping (_ isDone: Bool) -> Void) {
        let split = SplitPath(file.path)
        do {
            let directory = try directories.directory(at: split.directory)
            if let status = try files.status(in: directory.number, split.name), status.isRegular,
                status.inode == file.inode, status.size == file.size,
                status.modifiedNanoseconds == file.modifiedNanoseconds
            {
                try files.remove(split.name, in: directory.number)
            } else if directories.isFileSystemAway(split.directory, file.fileSystem) {
                return then(false)
            }
            // A removal before a crash may not have been synced, so the directory of a missing name is synced, too.
            sync(directory) { then($0 == nil) }
        } catch {
            // If the directory does not exist any more, the file does not exist either, so the removal is done.
            let isMissing = (error as? Failure)?.detail == Int64(ENOENT)
            then(isMissing && !directories.isFileSystemAway(split.directory, file.fileSystem))
        }
    }
}
