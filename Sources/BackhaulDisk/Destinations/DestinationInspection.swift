public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

extension DiskThreads {
    /// Checks whether this process, which runs the downloads, sees the same directories as the host, which enqueues
    /// them. Also checks whether this process may write in these directories. The two processes may have different
    /// mount namespaces or groups. `then` gets the identities of the destinations' file systems, or nil for an unknown
    /// one. Otherwise `then` gets the failure of the first destination that fails, with the position of this
    /// destination.
    public func inspect(
        _ destinations: [Destination], then: @escaping @Sendable (Result<[String?], Failure>) -> Void
    ) {
        inspect(destinations, [], then: then)
    }

    /// Checks the destinations after those whose `identities` are known. Each check runs on a thread for the
    /// destination's file system.
    private func inspect(
        _ destinations: [Destination], _ identities: [String?],
        then: @escaping @Sendable (Result<[String?], Failure>) -> Void
    ) {
        let index = identities.count
        guard index < destinations.count else { return then(.success(identities)) }
        metadataWorker(at: destinations[index]).post { [weak self] context in
            do throws(Failure) {
                if let failure = DestinationInspection.failure(destinations[index], context.files) { throw failure }
                let directory = try context.directories.directory(at: destinations[index].directory)
                self?.inspect(destinations, identities + [directory.identity], then: then)
            } catch {
                var failure = error
                failure.index = UInt64(index)
                then(.failure(failure))
            }
        }
    }
}

enum DestinationInspection {
    static func failure(_ destination: Destination, _ files: FileSystem) -> Failure? {
        let path = destination.directory
        do throws(SystemError) {
            guard let status = try files.status(of: path) else {
                return unavailable(
                    ENOENT,
                    "the engine does not see the directory \(path), which the program that asked for the "
                        + "download sees; start both in the same mount namespace")
            }
            guard status.device == destination.directoryDevice, status.inode == destination.directoryInode else {
                return DirectoryCache.replacedFailure(path)
            }
            try files.checkAccess(path, R_OK | W_OK | X_OK)
            return nil
        } catch {
            guard error.code == EACCES || error.code == EROFS else { return .disk(error, path) }
            return unavailable(
                error.code,
                "the engine may not write into the directory \(path), although the program that asked for "
                    + "the download may; start the engine with the same groups and mounts, or let its user write")
        }
    }

    private static func unavailable(_ code: Int32, _ message: String) -> Failure {
        .system(.destinationUnavailable, code: code, message)
    }
}
