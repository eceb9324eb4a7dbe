internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// What one disk thread owns, and the batch it works on. Syncs are what costs: those of a batch are started together and
/// share the file system's journal commits.
final class DiskContext {
    private struct Seal {
        var part: UInt64
        var file: Descriptor
        var intent: FinishIntent
        var path: String
        var then: @Sendable (Result<FinishIntent, Failure>) -> Void
    }

    private struct Place {
        var directory: Descriptor
        var path: String
        var then: @Sendable (Result<Void, Failure>) -> Void
    }

    /// Bounds the descriptors that a batch holds open.
    static let batchLimit = 64

    let files: FileSystem
    var directories: DirectoryCache
    var moves: [UInt64: KeptFileMove] = [:]
    private var parts: [UInt64: OpenPart] = [:]
    private var seals: [Seal] = []
    private var places: [Place] = []
    private var unfinishedParts: Set<UInt64> = []

    init(files: FileSystem) {
        self.files = files
        directories = DirectoryCache(files: files)
    }

    func perform(_ jobs: [Worker<DiskContext>.Job]) {
        directories.beginBatch()
        for job in jobs {
            job(self)
            if seals.count + places.count >= DiskContext.batchLimit { finishBatch() }
        }
        finishBatch()
    }

    /// The part's state, once everything asked for before has been done.
    func part(_ id: UInt64, _ location: PartLocation) -> OpenPart {
        if unfinishedParts.contains(id) { finishBatch() }
        if let part = parts[id] { return part }
        let part = OpenPart(location, files: files)
        parts[id] = part
        return part
    }

    /// A seal that waits for its sync keeps the file open itself.
    func close(_ id: UInt64) { parts[id] = nil }

    func discard(_ id: UInt64, _ location: PartLocation) throws(Failure) {
        if unfinishedParts.contains(id) { finishBatch() }
        close(id)
        let directory: Descriptor
        do {
            directory = try directories.descriptor(of: location.destination)
        } catch where error.detail == Int64(ENOENT) {
            return
        }
        do throws(SystemError) {
            try files.remove(location.partName, in: directory.number)
        } catch {
            throw .disk(error, location.destination.path)
        }
    }

    func seal(
        _ id: UInt64, _ location: PartLocation, _ last: [UInt8], expected: UInt64?,
        then: @escaping @Sendable (Result<FinishIntent, Failure>) -> Void
    ) {
        do {
            let (file, intent) = try part(id, location).prepareSeal(last, expected: expected, &directories)
            unfinishedParts.insert(id)
            seals.append(Seal(part: id, file: file, intent: intent, path: location.destination.path, then: then))
        } catch {
            then(.failure(error))
        }
    }

    func place(
        _ id: UInt64, _ location: PartLocation, _ intent: FinishIntent,
        then: @escaping @Sendable (Result<Void, Failure>) -> Void
    ) {
        if unfinishedParts.contains(id) { finishBatch() }
        do {
            let directory = try directories.descriptor(of: location.destination)
            try Placing(files: files, location: location, intent: intent).rename(in: directory)
            unfinishedParts.insert(id)
            places.append(Place(directory: directory, path: location.destination.path, then: then))
        } catch {
            then(.failure(error))
        }
    }

    private func finishBatch() {
        unfinishedParts.removeAll(keepingCapacity: true)
        finishSeals()
        finishPlaces()
    }

    private func finishSeals() {
        let batch = seals
        seals.removeAll(keepingCapacity: true)
        if batch.count > 1 {
            for seal in batch { files.startWriteBack(seal.file.number) }
        }
        for seal in batch {
            do throws(SystemError) {
                try files.sync(seal.file.number)
                parts[seal.part] = nil
                seal.then(.success(seal.intent))
            } catch {
                let failure = Failure.disk(error, seal.path)
                parts[seal.part]?.breaks(failure)
                seal.then(.failure(failure))
            }
        }
    }

    private func finishPlaces() {
        let batch = places
        places.removeAll(keepingCapacity: true)
        var outcomes: [Int32: SystemError?] = [:]
        for place in batch where outcomes[place.directory.number] == nil {
            do throws(SystemError) {
                try files.syncDirectory(place.directory.number)
                outcomes[place.directory.number] = .some(nil)
            } catch {
                outcomes[place.directory.number] = error
            }
        }
        for place in batch {
            let error = outcomes[place.directory.number] ?? nil
            place.then(error.map { .failure(.disk($0, place.path)) } ?? .success(()))
        }
    }
}
