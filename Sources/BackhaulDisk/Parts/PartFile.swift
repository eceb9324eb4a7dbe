public import BackhaulModel
internal import BackhaulPlatform

/// The part file of one download: the file to which the download writes until all bytes have arrived. It is written
/// strictly in order, so its size is the offset from which the download continues.
///
/// Each function returns immediately. Its completion is called on a disk thread.
public final class PartFile: Sendable {
    public let location: PartLocation
    private let id: UInt64
    /// The worker (a disk thread) for a file that is written in several steps.
    private let writer: Worker<DiskContext>
    /// The worker of the destination's directory. It writes all files of this directory that are written in one step,
    /// and makes all renames in this directory. Because one worker does all of this, one sync can serve many files and
    /// names.
    private let placer: Worker<DiskContext>
    /// The worker that has the open file. Nil before the first operation on the file, and after the file was closed.
    private let owner = Lock<Worker<DiskContext>?>(nil)

    init(id: UInt64, location: PartLocation, writer: Worker<DiskContext>, placer: Worker<DiskContext>) {
        self.id = id
        self.location = location
        self.writer = writer
        self.placer = placer
    }

    /// The worker that has the open file. The first operation on the file chooses the worker.
    private var worker: Worker<DiskContext> { worker(first: writer) }

    private func worker(first: Worker<DiskContext>) -> Worker<DiskContext> {
        owner.withLock { owner in
            let worker = owner ?? first
            owner = worker
            return worker
        }
    }

    /// Opens the part file of an earlier attempt (run) of the download. The file must be an unchanged regular file of
    /// this user, with only one hard link. The *trusted length* is the number of bytes that certainly still are as the
    /// download wrote them. Shortens the file to this length, and calls `then` with the length. If no byte is trusted,
    /// the length is 0, and no file is created yet.
    ///
    /// If the present engine has closed the file, it recognizes the file by its size and times. If only the times
    /// differ, the engine compares the checksum of the file. If an earlier engine, which has ended, wrote the file,
    /// only the bytes that match a stored checksum are kept. The stored checksums are in `fingerprints` and in the
    /// journal, which is a file in the store. The journal has the length and the checksum of each part file. Kept bytes
    /// that no sync is known to cover are written again, so that the next sync covers them.
    public func openResuming(
        trusting trusted: TrustedLength, as fingerprints: [PartFingerprint] = [],
        then: @escaping @Sendable (Result<UInt64, Failure>) -> Void
    ) {
        worker.post { [self] context in
            let part = context.part(id, location)
            let result = context.changing(location) {
                Result { () throws(Failure) in
                    try part.resume(trusting: trusted, as: fingerprints, &context.directories)
                }
            }
            if case .success = result, part.isUnverified { verifyNext(then: then) } else { then(result) }
        }
    }

    /// Checks the existing bytes in slices, so that the disk thread can do other work between the slices.
    private func verifyNext(then: @escaping @Sendable (Result<UInt64, Failure>) -> Void) {
        worker.post { [self] context in
            guard context.isOpen(id) else { return then(.success(0)) }
            let part = context.part(id, location)
            let result = context.changing(location) {
                Result { () throws(Failure) in try part.verifyNext(&context.directories) }
            }
            switch result {
            case .success(let length?): then(.success(length))
            case .success(nil): verifyNext(then: then)
            case .failure(let failure): then(.failure(failure))
            }
        }
    }

    /// Appends the bytes to the file, and calls `then` with the new length. The first call creates a file that only its
    /// owner may read (mode 0600). A failed append does not change the length, and all later ones fail until
    /// `openResuming` is called.
    public func append(_ bytes: [UInt8], then: @escaping @Sendable (Result<PartLength, Failure>) -> Void) {
        worker.post { [id, location] context in
            let part = context.part(id, location)
            then(
                context.changing(location) {
                    Result { () throws(Failure) in
                        PartLength(try part.append(bytes, &context.directories), part.fingerprint)
                    }
                })
        }
    }

    /// Syncs the file, and calls `then` with the durable length. After a failure, the bytes since the last sync may be
    /// lost. So all calls fail until `openResuming` is called with the last synced length.
    public func sync(then: @escaping @Sendable (Result<PartLength, Failure>) -> Void) {
        worker.post { [id, location] context in
            context.sync(id, location, then: then)
        }
    }

    /// Computes a digest of the whole file. The bytes that the file already has are read in slices. Between the slices,
    /// other work can run. New bytes are added to the digest when they are written. After `openResuming` this function
    /// must be called again. If the digest fails, `seal` reports the failure.
    public func hash(_ algorithm: Checksum.Algorithm) {
        worker.post { [self] context in
            guard (try? context.part(id, location).hash(algorithm)) != nil else { return }
            hashNext(in: context)
        }
    }

    private func hashNext(in context: DiskContext) {
        // A failure is ignored, because the seal fails in the same way and reports it.
        guard context.isOpen(id), (try? context.hashNext(id, location)) == false else { return }
        worker.post { [self] context in hashNext(in: context) }
    }

    /// Checks whether the file system has space for this many bytes. `size` is the size of the whole file, as the
    /// server announced it. If the whole file system is smaller than the file, fails with `tooLarge`. If only the free
    /// space is too small, fails with `diskFull`. `replacesPart`: whether the bytes are the whole file, so that an old
    /// part file is not continued. If the space is too small, that part file is removed first.
    public func checkSpace(
        for bytes: UInt64, ofFileOf size: UInt64? = nil, replacesPart: Bool = false,
        then: @escaping @Sendable (Result<Void, Failure>) -> Void
    ) {
        worker.post { [id, location] context in
            let part = context.part(id, location)
            then(
                Result { () throws(Failure) in
                    try part.checkSpace(bytes, ofFileOf: size, replacesPart: replacesPart, &context.directories)
                })
        }
    }

    /// Returns the lowest number, from `first` on, with which no file in the destination's directory has the name
    /// (`ServerFileName.numbered`).
    public func freeNumber(
        of name: String, from first: Int, then: @escaping @Sendable (Result<Int, Failure>) -> Void
    ) {
        placer.post { [location] context in
            then(
                Result { () throws(Failure) in
                    let directory = try context.directories.directory(of: location.destination)
                    do throws(SystemError) {
                        var number = first
                        while try context.files.status(
                            in: directory.number, ServerFileName.numbered(name, number)) != nil
                        { number += 1 }
                        return number
                    } catch {
                        throw .disk(error, location.destination.path)
                    }
                })
        }
    }

    /// Seals the file: writes the rest, sets the permissions and syncs the file. The file is created even if it is
    /// empty. Calls `then` with the finish intent (the device, inode and size of the file) and, if requested, the
    /// digest. The caller must make the intent durable before it calls `place`. If the file is shorter than `size`,
    /// fails with `connectionLost`. If the file is longer, fails with `badResponse`. After a failure, the caller
    /// continues with `openResuming`, as after a failed `sync`. Until `then` is called, the caller may only call
    /// `discard` or `close`.
    public func seal(
        _ last: [UInt8], expected size: UInt64?, then: @escaping @Sendable (Result<SealedFile, Failure>) -> Void
    ) {
        worker(first: placer).post { [self] context in seal(last, expected: size, in: context, then: then) }
    }

    private func seal(
        _ last: [UInt8], expected size: UInt64?, in context: DiskContext,
        then: @escaping @Sendable (Result<SealedFile, Failure>) -> Void
    ) {
        do throws(Failure) {
            guard try context.hashNext(id, location) else {
                worker.post { [self] context in seal(last, expected: size, in: context, then: then) }
                return
            }
            context.changing(location) {
                context.seal(id, location, last, expected: size) { [self] result in
                    // The seal has closed the file, so `close` has nothing to do.
                    if case .success = result { owner.withLock { $0 = nil } }
                    then(result)
                }
            }
        } catch {
            then(.failure(error))
        }
    }

    /// Renames the sealed file to its final name, and syncs the directory. Also succeeds if the file was renamed before
    /// a crash. If another file has the name and must not be replaced, fails with `destinationExists`. A directory is
    /// never replaced. After the failure `diskFailed`, a power cut may lose the new name, until a repeated call
    /// succeeds: ext4, XFS and btrfs refuse all further syncs after an error of their journal.
    public func place(_ intent: FinishIntent, then: @escaping @Sendable (Result<FileStamp, Failure>) -> Void) {
        placer.post { [id, location] context in
            context.changing(location) { context.place(id, location, intent, then: then) }
        }
    }

    /// Finds out, after a crash, whether the file of `intent` already has its final name.
    public func inspect(for intent: FinishIntent, then: @escaping @Sendable (Result<Placement, Failure>) -> Void) {
        placer.post { [location] context in
            then(
                Result { () throws(Failure) in
                    let directory = try context.directories.directory(of: location.destination)
                    return try PlaceOperation(
                        files: context.files, location: location, intent: intent
                    ).inspect(in: directory)
                })
        }
    }

    /// Closes and removes the part file, and syncs its directory. It is not an error if the file is missing.
    public func discard(then: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        worker.post { [id, location] context in
            context.changing(location) { context.discard(id, location, then: then) }
        }
    }

    /// Closes the file without removing it.
    public func close() {
        let worker = owner.withLock { owner in
            defer { owner = nil }
            return owner
        }
        worker?.post { [id, location] context in context.close(id, location) }
    }

    deinit { close() }
}
