internal import BackhaulModel
internal import BackhaulPlatform

/// The check of a file that already exists at the destination of a download. If a digest was requested, the check
/// computes it.
final class ExistingFile {
    private let destination: Destination
    private let files: FileSystem
    private let file: Descriptor
    private let size: UInt64
    private var digest: PartDigest?
    /// The file, after the last step; nil if its size changed while it was read, or if it could not be synced.
    private(set) var found: DestinationFile?

    /// Returns nil if no regular file of this size is at the destination, or if this user must not read the file.
    init?(
        _ destination: Destination, size: UInt64?, _ algorithm: Checksum.Algorithm?, _ files: FileSystem,
        _ directories: inout DirectoryCache
    ) throws(Failure) {
        let directory = try directories.directory(of: destination)
        self.destination = destination
        self.files = files
        do throws(SystemError) {
            guard let named = try files.status(in: directory.number, destination.name), named.isRegular,
                named.size == size ?? named.size,
                let file = try files.ifReachable({ () throws(SystemError) in
                    try files.openForReading(in: directory.number, destination.name)
                })
            else { return nil }
            (self.file, self.size) = (file, named.size)
        } catch {
            throw .disk(error, destination.path)
        }
        if let algorithm { digest = try PartDigest(algorithm) }
    }

    /// Performs the next step. Returns false if more steps follow.
    func advance(_ directories: inout DirectoryCache) throws(Failure) -> Bool {
        if let digested = digest?.length, digested < size {
            var slice = [UInt8](repeating: 0, count: Int(min(UInt64(PartDigest.sliceSize), size - digested)))
            let count = try reporting { () throws(SystemError) in
                try files.read(file.number, into: &slice, at: digested)
            }
            guard count > 0 else { return true }
            try digest?.add(slice[..<count], behind: digested)
            return false
        }
        let directory = try directories.directory(of: destination)
        do throws(SystemError) {
            try files.sync(file.number)
            try files.syncDirectory(directory.number)
        } catch {
            // A second sync may succeed although bytes were lost (fsync(2)), so the file must be downloaded.
            return true
        }
        let status = try reporting { () throws(SystemError) in try files.status(file.number) }
        if status.size == size { found = DestinationFile(size: size, checksum: try digest?.finish()) }
        return true
    }

    private func reporting<Value>(_ body: () throws(SystemError) -> Value) throws(Failure) -> Value {
        do {
            return try body()
        } catch {
            throw .disk(error, destination.path)
        }
    }
}
