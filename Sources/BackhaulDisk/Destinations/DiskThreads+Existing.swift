public import BackhaulModel
internal import BackhaulPlatform

extension DiskThreads {
    /// Finds the regular file at the destination of a download. The result is nil if no such file exists, if the file
    /// cannot be read or synced, or if it does not have this size. If `size` is nil, any size is right. If an algorithm
    /// is given, the result has the file's digest. The file and its name are synced, because the program that wrote the
    /// file may not have synced them. The file is read in slices, so that the disk thread can do other work between the
    /// slices.
    public func find(
        _ destination: Destination, size: UInt64?, _ algorithm: Checksum.Algorithm?,
        then: @escaping @Sendable (Result<DestinationFile?, Failure>) -> Void
    ) {
        let worker = worker(for: destination.path, at: destination)
        let id = newID()
        worker.post { context in
            do throws(Failure) {
                let file = try ExistingFile(destination, size: size, algorithm, context.files, &context.directories)
                guard let file else { return then(.success(nil)) }
                context.existing[id] = file
                DiskThreads.advance(id, worker, then)
            } catch {
                then(.failure(error))
            }
        }
    }

    private static func advance(
        _ id: UInt64, _ worker: Worker<DiskContext>,
        _ then: @escaping @Sendable (Result<DestinationFile?, Failure>) -> Void
    ) {
        worker.post { context in
            guard let file = context.existing[id] else { return }
            do throws(Failure) {
                guard try file.advance(&context.directories) else { return advance(id, worker, then) }
                context.existing[id] = nil
                then(.success(file.found))
            } catch {
                context.existing[id] = nil
                then(.failure(error))
            }
        }
    }

    /// Calls `then` with true if the file at the destination still has the inode, size and time of `stamp`, otherwise
    /// with false.
    public func inspect(
        _ destination: Destination, for stamp: FileStamp, then: @escaping @Sendable (Result<Bool, Failure>) -> Void
    ) {
        worker(for: destination.path, at: destination).post { context in
            then(
                Result { () throws(Failure) in
                    let directory = try context.directories.directory(of: destination)
                    do throws(SystemError) {
                        let status = try context.files.status(in: directory.number, destination.name)
                        return status.map { $0.isRegular && FileStamp($0) == stamp } ?? false
                    } catch {
                        throw .disk(error, destination.path)
                    }
                })
        }
    }
}
