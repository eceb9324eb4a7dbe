internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// What one disk thread owns, and the batch it works on.
final class DiskContext {
    /// Bounds the descriptors that a batch holds open.
    static let batchLimit = 64

    let files: FileSystem
    private let journal: PartJournal?
    var directories: Directories
    var moves: [UInt64: KeptFileMove] = [:]
    var bodies: [UInt64: OpenBody] = [:]
    var existing: [UInt64: ExistingFile] = [:]
    var keeping: [UInt64: BodyKeeping] = [:]
    var returns: [UInt64: BodyReturn] = [:]
    private var parts: [UInt64: OpenPart] = [:]
    /// Of part files that were closed, by their paths.
    private var footprints: [String: PartFootprint] = [:]
    private static let footprintLimit = 10_000
    private var syncs: PendingSyncs
    /// Those with a sync that waits for the end of the batch.
    private var partsInBatch: Set<UInt64> = []

    init(files: FileSystem, journal: PartJournal? = nil) {
        self.files = files
        self.journal = journal
        directories = Directories(files: files)
        syncs = PendingSyncs(files: files)
    }

    func perform(_ jobs: [Worker<DiskContext>.Job]) {
        for job in jobs {
            job(self)
            if syncs.count >= DiskContext.batchLimit { finishBatch() }
        }
        finishBatch()
    }

    /// Marks the part file as being changed meanwhile.
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

    /// The part's state, once everything asked for before has been done.
    func part(_ id: UInt64, _ location: PartLocation) -> OpenPart {
        if partsInBatch.contains(id) { finishBatch() }
        if let part = parts[id] { return part }
        let footprint = footprints.isEmpty ? nil : footprints.removeValue(forKey: location.path)
        let part = OpenPart(location, files: files, journal, footprint)
        parts[id] = part
        return part
    }

    /// False when the digest of what is there is not whole yet.
    func catchUp(_ id: UInt64, _ location: PartLocation) throws(Failure) -> Bool {
        try part(id, location).catchUp(&directories)
    }

    /// Not closed meanwhile.
    func isOpen(_ id: UInt64) -> Bool { parts[id] != nil }

    /// A sync that waits keeps the file open itself.
    func close(_ id: UInt64, _ location: PartLocation) {
        guard let part = parts.removeValue(forKey: id) else { return }
        part.leave()
        guard let footprint = part.footprint else { return }
        if footprints.count >= Self.footprintLimit { footprints.removeAll() }
        footprints[location.path] = footprint
    }

    func discard(_ id: UInt64, _ location: PartLocation) throws(Failure) {
        if partsInBatch.contains(id) { finishBatch() }
        parts[id] = nil
        footprints[location.path] = nil
        do throws(Failure) {
            let directory = try directories.directory(of: location.destination)
            try remove(location.partName, in: directory, location.partDescription)
        } catch where error.detail == Int64(ENOENT) {
            return
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
            // Before more is written.
            let synced = PartLength(length, part.stamp)
            partsInBatch.insert(id)
            syncs.add(file, dataOnly: true) { error in
                guard let error else { return then(.success(synced)) }
                then(.failure(part.breaks(.disk(error, location.partDescription))))
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
            let (file, sealed) = try part.prepareSeal(last, expected: expected, &directories)
            partsInBatch.insert(id)
            syncs.add(file, dataOnly: false) { [unowned self] error in
                guard let error else {
                    parts[id] = nil
                    return then(.success(sealed))
                }
                then(.failure(part.breaks(.disk(error, location.partDescription))))
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
            let placing = Placing(files: files, location: location, intent: intent)
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

    /// `then` gets nil when both are on the disk.
    func sync(_ file: Descriptor, in directory: String, then: @escaping (SystemError?) -> Void) {
        do throws(Failure) {
            let directory = try directories.directory(at: directory)
            var failed: SystemError?
            syncs.add(file, dataOnly: false) { failed = $0 }
            // The names of a batch come after its files.
            syncs.add(directory) { then(failed ?? $0) }
        } catch {
            then(SystemError(code: Int32(clamping: error.detail), attempt: "Cannot sync"))
        }
    }

    /// Absent is fine. The directory is synced so that the file does not come back with a power loss.
    func remove(path: String, then: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        let split = SplitPath(path)
        do throws(Failure) {
            let directory = try directories.directory(at: split.directory)
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

    private func remove(_ name: String, in directory: OpenDirectory, _ subject: String) throws(Failure) {
        // The records of part files, which have names of ours.
        if let journal, name.hasPrefix("."), let status = try? files.status(in: directory.number, name) {
            journal.forget(status.inode, name)
        }
        do {
            try files.remove(name, in: directory.number)
        } catch {
            throw .disk(error, subject)
        }
    }
}
