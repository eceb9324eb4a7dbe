public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// A file of a request's body that is being handed over.
public struct HandedOverBody: Sendable {
    public var file: BodyFile
    public var source: BodySource
    /// In the store's folder of bodies, unlike any other there. Not used for a reference.
    public var name: String
    public init(_ file: BodyFile, _ source: BodySource, name: String) {
        self.file = file
        self.source = source
        self.name = name
    }
}

extension DiskThreads {
    /// Takes each file over as its source says, in `folder`: a reference is looked at only; a snapshot is copied, by
    /// reflink where the file system can; a file to consume gets a second name, or is copied where it cannot have one.
    /// Its old name stays until `removeConsumed`, so that nothing is lost by a crash in between. All of it is on the
    /// disk when `then` is called, with the files as they are to be read from now on, or with the first failure (by
    /// position) and nothing left in the folder. `forbidden`: directories that nothing is consumed from, as pairs of
    /// device and inode.
    public func keep(
        _ bodies: [HandedOverBody], in folder: String, forbidden: [(UInt64, UInt64)],
        then: @escaping @Sendable (Result<[BodyFile], Failure>) -> Void
    ) {
        guard !bodies.isEmpty else { return then(.success([])) }
        let outcomes = Lock<(left: Int, results: [Result<BodyFile, Failure>?])>(
            (bodies.count, bodies.map { _ in nil }))
        for (index, body) in bodies.enumerated() {
            let (worker, id) = (worker(for: body.name), newID())
            let settled: @Sendable (Result<BodyFile, Failure>) -> Void = { [weak self] result in
                let all = outcomes.withLock { outcomes -> [Result<BodyFile, Failure>]? in
                    outcomes.results[index] = result
                    outcomes.left -= 1
                    return outcomes.left == 0 ? outcomes.results.compactMap(\.self) : nil
                }
                if let all { self?.settle(bodies, all, in: folder, then: then) }
            }
            worker.post { context in
                context.keeping[id] = BodyKeeping(body, in: folder, forbidden: forbidden, files: context.files)
                DiskThreads.advance(keeping: id, worker, then: settled)
            }
        }
    }

    private static func advance(
        keeping id: UInt64, _ worker: Worker<DiskContext>,
        then: @escaping @Sendable (Result<BodyFile, Failure>) -> Void
    ) {
        worker.post { context in
            guard let keeping = context.keeping[id] else { return }
            do throws(Failure) {
                guard try keeping.advance() else { return advance(keeping: id, worker, then: then) }
                context.keeping[id] = nil
                keeping.finish(context, then: then)
            } catch {
                context.keeping[id] = nil
                then(.failure(error))
            }
        }
    }

    private func settle(
        _ bodies: [HandedOverBody], _ results: [Result<BodyFile, Failure>], in folder: String,
        then: @escaping @Sendable (Result<[BodyFile], Failure>) -> Void
    ) {
        do throws(Failure) {
            var files: [BodyFile] = []
            for (index, result) in results.enumerated() {
                do throws(Failure) {
                    files.append(try result.get())
                } catch {
                    var failure = error
                    failure.index = UInt64(index)
                    throw failure
                }
            }
            then(.success(files))
        } catch {
            for body in bodies where body.source != .reference { remove(path: folder + "/" + body.name) { _ in } }
            then(.failure(error))
        }
    }

    /// Removes the old names of consumed files, unless something else has them by now. `then` is called when that is on
    /// the disk, or cannot be done.
    public func removeConsumed(_ files: [BodyFile], then: @escaping @Sendable () -> Void) {
        guard !files.isEmpty else { return then() }
        let left = Lock(files.count)
        for file in files {
            worker(for: file.path).post { context in
                context.removeConsumed(file) {
                    let isLast = left.withLock { left in
                        left -= 1
                        return left == 0
                    }
                    if isLast { then() }
                }
            }
        }
    }

    /// Names in a folder; none when it cannot be read.
    public func names(in folder: String, then: @escaping @Sendable ([String]) -> Void) {
        worker(for: folder).post { context in then(context.files.names(in: folder)) }
    }
}

/// One file on its way into the store. Copied in slices, so that the other work of its disk thread goes on in between.
final class BodyKeeping {
    private static let sliceSize = 16 << 20

    private let body: HandedOverBody
    private let folder: String
    private let forbidden: [(UInt64, UInt64)]
    private let files: FileSystem
    private var source: Descriptor?
    private var copy: Descriptor?
    private var copied: UInt64 = 0
    private var result: BodyFile
    private var path: String { body.file.path }

    init(_ body: HandedOverBody, in folder: String, forbidden: [(UInt64, UInt64)], files: FileSystem) {
        self.body = body
        self.folder = folder
        self.forbidden = forbidden
        self.files = files
        result = body.file
    }

    /// Does the next piece of the work; false when there is more.
    func advance() throws(Failure) -> Bool {
        do throws(SystemError) {
            return try source == nil ? start() : continueCopy()
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: SystemError) -> Failure {
        guard [ENOSPC, EDQUOT].contains(error.code) else { return OpenBody.failure(error, path) }
        return .system(.storeFull, code: error.code, "the store has no space for the body's file \(path); free some")
    }

    /// `then`: the file as it is to be read, once it is on the disk.
    func finish(_ context: DiskContext, then: @escaping @Sendable (Result<BodyFile, Failure>) -> Void) {
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
        if let parent, forbidden.contains(where: { $0 == (parent.device, parent.inode) }) {
            throw SystemError(code: EPERM, attempt: "Cannot consume a file of the store")
        }
        guard let named = try files.status(in: AT_FDCWD, path), named.isRegular else {
            throw SystemError(code: ELOOP, attempt: "Cannot consume by way of a symbolic link")
        }
        let directory = try files.openDirectory(folder)
        do {
            try files.link(path, to: body.name, in: directory.number)
        } catch where [EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS].contains(error.code) {
            // Another file system, or one without hard links.
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
        return try files.clone(source.number, to: copy.number) ? endCopy(source, copy) : false
    }

    private func continueCopy() throws(SystemError) -> Bool {
        guard let source, let copy else { return true }
        guard copied < body.file.size else { return try endCopy(source, copy) }
        var count = try files.copyRange(source.number, to: copy.number, at: copied, size: Self.sliceSize)
        if count == 0 {
            var buffer = [UInt8](repeating: 0, count: Int(min(UInt64(Self.sliceSize), body.file.size - copied)))
            count = try files.read(source.number, into: &buffer, at: copied)
            guard count > 0 else { throw .changed }
            try files.write(copy.number, buffer[..<count], at: copied)
        }
        files.startWriteBack(copy.number)
        copied += UInt64(count)
        return false
    }

    private func endCopy(_ source: Descriptor, _ copy: Descriptor) throws(SystemError) -> Bool {
        // Changed while it was copied: what is here is neither the old file nor the new.
        guard body.file.isSame(as: try files.status(source.number)),
            try files.status(copy.number).size == body.file.size, source.isOurs, copy.isOurs
        else { throw .changed }
        result.storedName = body.name
        (result.device, result.inode) = (0, 0)
        return true
    }
}

extension DiskContext {
    func removeConsumed(_ file: BodyFile, then: @escaping () -> Void) {
        let split = SplitPath(file.path)
        do {
            let directory = try directories.directory(at: split.directory)
            guard let status = try files.status(in: directory.number, split.name), status.isRegular,
                status.inode == file.inode, status.size == file.size,
                status.modifiedNanoseconds == file.modifiedNanoseconds
            else { return then() }
            try files.remove(split.name, in: directory.number)
            sync(directory) { _ in then() }
        } catch {
            then()
        }
    }
}
