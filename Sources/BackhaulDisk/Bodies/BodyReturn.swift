public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Moves a consumed file back to its old path. A consumed file was moved into the store for an upload. If another file
/// has the old path, the consumed file gets a similar path in the same directory. No file is ever replaced. Each step
/// can be repeated after a crash. For a move to another file system, the file is copied in slices, so that the disk
/// thread can do other work between the slices.
final class BodyReturn {
    private static let sliceSize = 4 << 20

    private let body: ReturnedBody
    private let folder: String
    private let names: [String]
    private let directory: String
    private let files: FileSystem
    private var source: Descriptor?
    private var copy: Descriptor?
    private var copied: UInt64 = 0
    /// The temporary name of the copy, in the directory of the old path. No other file has this name.
    private var copyName: String { ".\(body.name).backhaul" }

    init(_ body: ReturnedBody, from folder: String, files: FileSystem) {
        self.body = body
        self.folder = folder
        self.files = files
        directory = SplitPath(body.path).directory
        names = [SplitPath(body.path).name, SplitPath(body.otherPath).name]
    }

    /// Performs the next step. Returns false if more steps follow.
    func advance(_ directories: inout DirectoryCache) throws(Failure) -> Bool {
        // A file below an empty mount point would be hidden when its file system is mounted.
        guard !directories.isFileSystemAway(directory, body.fileSystem) else {
            throw .away(directory, from: body.fileSystem)
        }
        let from = try directories.directory(at: folder)
        do throws(SystemError) {
            guard let stored = try files.status(in: from.number, body.name) else {
                // If the file is not in the store any more, it was moved before a crash, perhaps without the syncs of
                // the two directories. A directory that is missing, or that this user cannot reach any more, is not
                // synced: otherwise, the return would never end.
                do throws(SystemError) {
                    try files.syncDirectory(try openTarget(&directories).number)
                } catch where [ENOENT, ENOTDIR, ELOOP, EACCES].contains(error.code) {}
                try files.syncDirectory(from.number)
                return true
            }
            let to = try openTarget(&directories)
            guard let source, let copy else { return try start(stored, from, to) }
            do throws(SystemError) {
                return try continueCopy(source, copy) ? try place(copy, stored, from, to) : false
            } catch {
                try? files.remove(copyName, in: to.number)
                throw error
            }
        } catch {
            throw .disk(error, body.path)
        }
    }

    private func openTarget(_ directories: inout DirectoryCache) throws(SystemError) -> OpenDirectory {
        do throws(Failure) {
            return try directories.directory(at: directory)
        } catch {
            throw SystemError(code: Int32(clamping: error.detail), messageStart: "cannot open the directory of")
        }
    }

    private func start(_ stored: FileStatus, _ from: OpenDirectory, _ to: OpenDirectory) throws(SystemError) -> Bool {
        for name in names {
            do throws(SystemError) {
                try files.rename(body.name, in: from.number, to: name, in: to.number, replace: false)
                try files.syncDirectory(to.number)
                try files.syncDirectory(from.number)
                return true
            } catch where error.code == EEXIST {
                if try wasReturned(name, stored, from, to) { return try removeStored(from, to) }
            } catch where error.code == EXDEV {
                return try startCopy(stored, from, to)
            }
        }
        throw SystemError(code: EEXIST, messageStart: FileOperation.rename.messageStart)
    }

    private func startCopy(
        _ stored: FileStatus, _ from: OpenDirectory, _ to: OpenDirectory
    ) throws(SystemError) -> Bool {
        for name in names where try wasReturned(name, stored, from, to) { return try removeStored(from, to) }
        source = try files.openToSend(folder + "/" + body.name)
        try files.remove(copyName, in: to.number)
        copy = try files.create(in: to.number, copyName)
        return false
    }

    /// Copies the next slice. Returns true when all bytes are copied.
    private func continueCopy(_ source: Descriptor, _ copy: Descriptor) throws(SystemError) -> Bool {
        let count = try files.copySlice(source.number, to: copy.number, at: copied, size: Self.sliceSize)
        copied += UInt64(count)
        return count == 0
    }

    private func place(
        _ copy: Descriptor, _ stored: FileStatus, _ from: OpenDirectory, _ to: OpenDirectory
    ) throws(SystemError) -> Bool {
        guard copied == stored.size else { throw SystemError(code: EIO, messageStart: "cannot copy") }
        // A failure is ignored: some file systems have no permissions or no exact times, and then only the content is
        // copied.
        try? files.copyAttributes(from: stored, copy.number)
        try files.sync(copy.number)
        for name in names {
            do throws(SystemError) {
                try files.rename(copyName, in: to.number, to: name, in: to.number, replace: false)
                return try removeStored(from, to)
            } catch where error.code == EEXIST {}
        }
        throw SystemError(code: EEXIST, messageStart: FileOperation.rename.messageStart)
    }

    /// Returns whether the file was moved to this name before a crash. After such a move, the name is a hard link to
    /// the file in the store. On another file system, the name belongs to a copy with the same time and content. The
    /// copy is synced, because another program may have made it.
    private func wasReturned(
        _ name: String, _ stored: FileStatus, _ from: OpenDirectory, _ to: OpenDirectory
    ) throws(SystemError) -> Bool {
        guard let there = try files.status(in: to.number, name), there.isRegular else { return false }
        if there.isSameFile(as: stored) { return !(to.status.isSameFile(as: from.status) && name == body.name) }
        guard there.device != stored.device, there.size == stored.size,
            there.modifiedNanoseconds == stored.modifiedNanoseconds
        else { return false }
        let ours = try files.openToSend(folder + "/" + body.name)
        let theirs = try files.openToSend(directory + "/" + name)
        guard try hasSameContent(ours, theirs) else { return false }
        try files.sync(theirs.number)
        return true
    }

    private func hasSameContent(_ one: Descriptor, _ other: Descriptor) throws(SystemError) -> Bool {
        var ours = [UInt8](repeating: 0, count: Self.sliceSize)
        var theirs = ours
        var offset: UInt64 = 0
        while true {
            let count = try files.read(one.number, into: &ours, at: offset)
            guard try files.read(other.number, into: &theirs, at: offset) == count, ours[..<count] == theirs[..<count]
            else { return false }
            if count == 0 { return true }
            offset += UInt64(count)
        }
    }

    private func removeStored(_ from: OpenDirectory, _ to: OpenDirectory) throws(SystemError) -> Bool {
        // The new name is synced before the old name is removed.
        try files.syncDirectory(to.number)
        try files.remove(body.name, in: from.number)
        try files.syncDirectory(from.number)
        return true
    }
}

extension FileSystem {
    /// Sets the permissions and the time of modification of an open file.
    func copyAttributes(from status: FileStatus, _ file: Int32) throws(SystemError) {
        try changeMode(file, status.mode)
        try changeModificationTime(file, nanoseconds: status.modifiedNanoseconds)
    }
}

extension DiskThreads {
    /// Moves each of the files from `folder` back to its old path. If another file has that path, ".~" and the task's
    /// number are appended to the old path. After all successful moves are synced, `then` gets the results of all
    /// files.
    public func returnBodies(
        _ bodies: [ReturnedBody], from folder: String,
        then: @escaping @Sendable ([(body: ReturnedBody, failure: Failure?)]) -> Void
    ) {
        guard !bodies.isEmpty else { return then([]) }
        let outcomes = Lock<[(body: ReturnedBody, failure: Failure?)]>([])
        for body in bodies {
            // The thread of this worker also removes the old names of consumed files, and does its work in order. So an
            // earlier removal of this path is finished before the move begins.
            let (worker, id) = (worker(for: body.path), newID())
            worker.post { context in
                context.returns[id] = BodyReturn(body, from: folder, files: context.files)
                DiskThreads.advance(returning: id, worker) { failure in
                    let all = outcomes.withLock { outcomes in
                        outcomes.append((body, failure))
                        return outcomes.count == bodies.count ? outcomes : nil
                    }
                    if let all { then(all) }
                }
            }
        }
    }

    private static func advance(
        returning id: UInt64, _ worker: Worker<DiskContext>, then: @escaping @Sendable (Failure?) -> Void
    ) {
        worker.post { context in
            guard let giving = context.returns[id] else { return }
            do throws(Failure) {
                guard try giving.advance(&context.directories) else {
                    return advance(returning: id, worker, then: then)
                }
                context.returns[id] = nil
                then(nil)
            } catch {
                context.returns[id] = nil
                then(error)
            }
        }
    }
}
