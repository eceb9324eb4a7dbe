public import BackhaulModel
internal import BackhaulPlatform

/// The file of one download until it has its final name: written strictly in order, so that its size is its offset.
///
/// Every function returns at once. Its completion is called on the disk thread.
public final class PartFile: Sendable {
    public let location: PartLocation
    private let id: UInt64
    private let worker: Worker<DiskContext>
    /// Gives the names of its directory, so that many of them share one sync.
    private let placer: Worker<DiskContext>

    init(id: UInt64, location: PartLocation, worker: Worker<DiskContext>, placer: Worker<DiskContext>) {
        self.id = id
        self.location = location
        self.worker = worker
        self.placer = placer
    }

    /// Opens what an earlier attempt has left, if it is ours (a regular file of this user with one link) and as it was
    /// left, shortens it to what is trusted, and answers the length to continue from. 0 when there is nothing to
    /// continue; then no file is made yet. What this engine has closed is known by its size and times, or where only
    /// these differ by its checksum. Of a file of an earlier engine as much is kept as has the checksum of one of the
    /// `stamps` or of the journal's record.
    public func openResuming(
        trusting trusted: TrustedLength, as stamps: [PartStamp] = [],
        then: @escaping @Sendable (Result<UInt64, Failure>) -> Void
    ) {
        worker.post { [self] context in
            let part = context.part(id, location)
            let result = context.changing(location) {
                Result { () throws(Failure) in
                    try part.resume(trusting: trusted, as: stamps, &context.directories)
                }
            }
            if case .success = result, part.isUnproven { prove(then: then) } else { then(result) }
        }
    }

    /// In slices, so that the other work of the disk thread goes on in between.
    private func prove(then: @escaping @Sendable (Result<UInt64, Failure>) -> Void) {
        worker.post { [self] context in
            guard context.isOpen(id) else { return then(.success(0)) }
            do throws(Failure) {
                guard let length = try context.part(id, location).prove(&context.directories) else {
                    return prove(then: then)
                }
                then(.success(length))
            } catch {
                then(.failure(error))
            }
        }
    }

    /// Writes at the end; the first call creates the file, with mode 0600. Answers the length then written. A failed
    /// append (`diskFull` above all) leaves the length as it was and may be tried again.
    public func append(_ bytes: [UInt8], then: @escaping @Sendable (Result<PartLength, Failure>) -> Void) {
        worker.post { [id, location] context in
            let part = context.part(id, location)
            then(context.changing(location) {
                Result { () throws(Failure) in
                    PartLength(try part.append(bytes, &context.directories), part.stamp)
                }
            })
        }
    }

    /// Answers the length that is on the disk. A failure is final for what was written since the last sync: everything
    /// fails until `openResuming` has gone back to the last synced length.
    public func sync(then: @escaping @Sendable (Result<PartLength, Failure>) -> Void) {
        worker.post { [id, location] context in
            context.sync(id, location, then: then)
        }
    }

    /// Computes this digest of the file from its first byte on: of what comes as it is written, of what is there by
    /// reading it meanwhile. After `openResuming` it is to be asked for again. A failure is told by `seal`.
    public func hash(_ algorithm: Checksum.Algorithm) {
        worker.post { [self] context in
            guard (try? context.part(id, location).hash(algorithm)) != nil else { return }
            catchUp(in: context)
        }
    }

    private func catchUp(in context: DiskContext) {
        // What fails here fails again at the seal, which tells it.
        guard context.isOpen(id), (try? context.catchUp(id, location)) == false else { return }
        worker.post { [self] context in catchUp(in: context) }
    }

    /// Whether the file system has room for so many bytes more, of a file that the server announced with `size`. Fails
    /// with `tooLarge` when the whole file system is smaller than the file, else with `diskFull`.
    public func checkSpace(
        for bytes: UInt64, ofFileOf size: UInt64? = nil, then: @escaping @Sendable (Result<Void, Failure>) -> Void
    ) {
        worker.post { [id, location] context in
            let part = context.part(id, location)
            then(Result { () throws(Failure) in try part.checkSpace(bytes, ofFileOf: size, &context.directories) })
        }
    }

    /// Fails with `destinationExists` when there is something of this name in the destination's directory.
    public func checkName(_ name: String, then: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        worker.post { [location] context in
            then(
                Result { () throws(Failure) in
                    let directory = try context.directories.directory(of: location.destination)
                    guard (try? context.files.status(in: directory.number, name)) != nil else { return }
                    throw .exists(location.destination.path + name)
                })
        }
    }

    /// Writes the rest, creates the file if it never was (an empty one too), gives it its permissions and syncs it.
    /// Answers what `place` needs, to be made durable in between, and the digest of the bytes that are synced, when one
    /// was asked for. Fails with `connectionLost` or `badResponse` when the
    /// length is not `size`. After a failure the part is continued from `openResuming`, as after that of `sync`.
    public func seal(
        _ last: [UInt8], expected size: UInt64?, then: @escaping @Sendable (Result<SealedFile, Failure>) -> Void
    ) {
        worker.post { [self] context in seal(last, expected: size, in: context, then: then) }
    }

    private func seal(
        _ last: [UInt8], expected size: UInt64?, in context: DiskContext,
        then: @escaping @Sendable (Result<SealedFile, Failure>) -> Void
    ) {
        do throws(Failure) {
            guard try context.catchUp(id, location) else {
                worker.post { [self] context in seal(last, expected: size, in: context, then: then) }
                return
            }
            context.changing(location) { context.seal(id, location, last, expected: size, then: then) }
        } catch {
            then(.failure(error))
        }
    }

    /// Gives the sealed file its final name and syncs the directory. Also right when that was done before a crash.
    /// Fails with `destinationExists` when another file has the name and is not to be replaced; a directory is never
    /// replaced. After `diskFailed` the name may or may not last: do not ask again.
    public func place(_ intent: FinishIntent, then: @escaping @Sendable (Result<FileStamp, Failure>) -> Void) {
        placer.post { [id, location] context in
            context.changing(location) { context.place(id, location, intent, then: then) }
        }
    }

    /// How far an earlier process had come with `intent`, for recovery.
    public func look(for intent: FinishIntent, then: @escaping @Sendable (Result<Placement, Failure>) -> Void) {
        worker.post { [location] context in
            then(
                Result { () throws(Failure) in
                    let directory = try context.directories.directory(of: location.destination)
                    return try Placing(files: context.files, location: location, intent: intent).look(in: directory)
                })
        }
    }

    /// Closes and removes the part file. Absent is fine.
    public func discard(then: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        worker.post { [id, location] context in
            then(context.changing(location) { Result { () throws(Failure) in try context.discard(id, location) } })
        }
    }

    /// Closes the file and leaves it where it is.
    public func close() {
        worker.post { [id, location] context in context.close(id, location) }
    }

    deinit { close() }
}
