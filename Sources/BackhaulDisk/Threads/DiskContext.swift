internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// The state of one disk thread, including its current batch: the jobs that the thread performs together.
final class DiskContext {
    /// The limit on delayed syncs in a batch. It also limits the descriptors that the batch keeps open.
    static let batchLimit = 64

    let files: FileSystem
    private let journal: PartJournal?
    var directories: DirectoryCache
    var moves: [UInt64: KeptFileMove] = [:]
    var bodies: [UInt64: OpenBody] = [:]
    var existing: [UInt64: ExistingFile] = [:]
    var ingests: [UInt64: BodyIngest] = [:]
    var returns: [UInt64: BodyReturn] = [:]
    private var parts: [UInt64: OpenPart] = [:]
    /// The last known states of closed part files, by the path of the file.
    private var footprints: [String: PartFootprint] = [:]
    private static let footprintLimit = 10_000
    private var syncs: PendingSyncs
    /// The ids of part files whose sync is delayed until the end of the batch.
    private var partsInBatch: Set<UInt64> = []

    init(files: FileSystem, journal: PartJournal? = nil) {
        self.files = files
        self.journal = journal
        directories = DirectoryCache(files: files)
        syncs = PendingSyncs(files: files)
    }

    func perform(_ jobs: [Worker<DiskContext>.Job]) {
        for job in jobs {
            job(self)
            if syncs.count >= DiskContext.batchLimit { finishBatch() }
        }
        finishBatch()
    }

    /// Runs the body. While the body runs, the part file is marked as being changed.
    func changing<Result>(_ location: PartLocation, _ body: () -> Result) -> Result {
        files.activity?.change(location.partName)
        defer { files.activity?.change(nil) }
        return body()
    }

    private func finishBatch() {
        partsInBatch.removeAll(keepingCapacity: true)
        syncs.finish()
        directories.closeAll()
    }

    /// Returns the state of the part file, after its delayed syncs are done.
    func part(_ id: UInt64, _ location: PartLocation) -> OpenPart {
        if partsInBatch.contains(id) { finishBatch() }
        if let part = parts[id] { return part }
        let footprint = footprints.isEmpty ? nil : footprints.removeValue(forKey: location.path)
        let part = OpenPart(location, files: files, journal, footprint)
        parts[id] = part
        return part
    }

    /// Adds the next slice of the existing bytes to the digest. Returns true when the digest covers all of these bytes.
    func hashNext(_ id: UInt64, _ location: PartLocation) throws(Failure) -> Bool {
        try part(id, location).hashNext(&directories)
    }

    /// Whether the part file is open in this thread; false after it was closed.
    func isOpen(_ id: UInt64) -> Bool { parts[id] != nil }

    /// Closes the part file, after its delayed syncs are done: the bytes of a failed sync must not be in the footprint.
    func close(_ id: UInt64, _ location: PartLocation) {
        if partsInBatch.contains(id) { finishBatch() }
        guard let part = parts.removeValue(forKey: id) else { return }
        part.closeKeeping()
        guard let footprint = part.footprint else { return }
        if footprints.count >= Self.footprintLimit { footprints.removeAll() }
        footprints[location.path] = footprint
    }

    /// Closes and removes the part file. A missing file is not an error. The directory is synced, so that the file does
    /// not reappear after a power loss.
    func discard(
        _ id: UInt64, _ location: PartLocation, then: @escaping @Sendable (Result<Void, Failure>) -> Void
    ) {
        if partsInBatch.contains(id) { finishBatch() }
        parts[id] = nil
        footprints[location.path] = nil
        do throws(Failure) {
            let directory = try directories.directory(of: location.destination)
            // A removal before a crash may not have been synced, so the directory of a missing file is synced, too.
            try remove(location.partName, in: directory, location.partDescription)
            syncs.add(directory) { error in
                then(error.map { .failure(.disk($0, location.partDescription)) } ?? .success(()))
            }
        } catch where error.isOfMissingDirectory && !directories.isFileSystemAway(location.destination) {
            // The directory was removed, and the part file with it.
            then(.success(()))
        } catch {
            then(.failure(error))
        }
    }

    func sync(
        _ id: UInt64, _ location: PartLocation, then: @escaping @Sendable (Result<PartLength, Failure>) -> Void
    ) {
        let part = part(id, location)
        do {
            guard let (file, length) = try part.prepareSync(&directories) else {
                return then(.success(PartLength(0)))
            }
            // The length, and the fingerprint that identifies the file, are read now, before further bytes are written.
            let synced = PartLength(length, part.fingerprint)
            partsInBatch.insert(id)
            syncs.add(file, .data, failed: part.truncateToSynced) { error in
                guard let error else {
                    part.synced(length)
                    return then(.success(synced))
                }
                then(.failure(part.markFailed(.disk(error, location.partDescription))))
            }
        } catch {
            then(.failure(error))
        }
    }

    func seal(
        _ id: UInt64, _ location: PartLocation, _ last: [UInt8], expected: UInt64?,
        then: @escaping @Sendable (Result<SealedFile, Failure>) -> Void
    ) {
        let part = part(id, location)
        do {
            let (file, new, sealed) = try part.prepareSeal(last, expected: expected, &directories)
            partsInBatch.insert(id)
            syncs.add(file, .attributesThenClose, new: new, failed: part.truncateToSynced) { [unowned self] error in
                guard let error else {
                    parts[id] = nil
                    return then(.success(sealed))
                }
                then(.failure(part.markFailed(.disk(error, location.partDescription))))
            }
        } catch {
            then(.failure(error))
        }
    }

    func place(
        _ id: UInt64, _ location: PartLocation, _ intent: FinishIntent,
        then: @escaping @Sendable (Result<FileStamp, Failure>) -> Void
    ) {
        if partsInBatch.contains(id) { finishBatch() }
        do {
            let directory = try directories.directory(of: location.destination)
            let placing = PlaceOperation(files: files, location: location, intent: intent)
            let stamp = try placing.rename(in: directory)
            journal?.forget(intent.inode, location.partName)
            CrashPoint.afterRename.reach()
            partsInBatch.insert(id)
            syncs.add(directory) { error in
                then(error.map { .failure(.disk($0, placing.path)) } ?? .success(stamp))
            }
        } catch {
            then(.failure(error))
        }
    }

    func sync(_ directory: OpenDirectory, then: @escaping (SystemError?) -> Void) { syncs.add(directory, then: then) }

    /// Syncs the file and its directory. `then` gets nil when both are synced.
    func sync(_ file: Descriptor, in directory: String, then: @escaping (SystemError?) -> Void) {
        do throws(Failure) {
            let directory = try directories.directory(at: directory)
            var failed: SystemError?
            syncs.add(file, .attributes) { failed = $0 }
            // `failed` is set before this completion is called, because a batch syncs its files before its directories.
            syncs.add(directory) { then(failed ?? $0) }
        } catch {
            then(SystemError(code: Int32(clamping: error.detail), messageStart: "cannot sync"))
        }
    }

    /// Removes the file. It is not an error if the file is missing. The directory is synced, so that the file does not
    /// reappear after a power loss. `fileSystem`: if this file system is away, fails with `storageAway`.
    func remove(
        path: String, on fileSystem: String? = nil, then: @escaping @Sendable (Result<Void, Failure>) -> Void
    ) {
        let split = SplitPath(path)
        do throws(Failure) {
            guard !directories.isFileSystemAway(split.directory, fileSystem) else {
                throw .away(split.directory, from: fileSystem)
            }
            let directory = try directories.directory(at: split.directory)
            // A removal before a crash may not have been synced, so the directory of a missing file is synced, too.
            try remove(split.name, in: directory, path)
            syncs.add(directory) { error in
                then(error.map { .failure(.disk($0, path)) } ?? .success(()))
            }
        } catch where error.detail == Int64(ENOENT) {
            then(.success(()))
        } catch {
            then(.failure(error))
        }
    }

    /// Removes the file. A missing file is not an error.
    private func remove(_ name: String, in directory: OpenDirectory, _ subject: String) throws(Failure) {
        do throws(SystemError) {
            guard let status = try files.status(in: directory.number, name) else { return }
            // The journal has records only of part files, and their names begin with a dot.
            if name.hasPrefix(".") { journal?.forget(status.inode, name) }
            try files.remove(name, in: directory.number)
        } catch {
            throw .disk(error, subject)
        }
    }
}
