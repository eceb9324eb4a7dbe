internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// A part file between its first byte and its sealing. Belongs to one disk thread.
final class OpenPart {
    private let files: FileSystem
    private let location: PartLocation
    private var descriptor: Descriptor?
    private var inode: UInt64 = 0
    /// Bytes of the download that are in the file.
    private var length: UInt64 = 0
    /// Set by a failed sync: nothing more is believed until the caller has gone back to what was synced.
    private var broken: Failure?

    private var path: String { location.destination.path }

    init(_ location: PartLocation, files: FileSystem) {
        self.location = location
        self.files = files
    }

    func resume(trusting trusted: TrustedLength, _ directories: inout DirectoryCache) throws(Failure) -> UInt64 {
        descriptor = nil
        broken = nil
        length = 0
        let directory = try directories.descriptor(of: location.destination)
        let (least, most): (UInt64, UInt64) =
            switch trusted {
            case .nothing: (0, 0)
            case .synced(let length): (length, length)
            case .allWritten(let synced): (synced, .max)
            }
        guard most > 0 else { return 0 }
        do throws(SystemError) {
            // What is there may be a stranger's link to a file of ours: looked at before it is opened for writing.
            guard let named = try files.status(in: directory.number, location.partName), named.isOurs else { return 0 }
            let file = try files.open(in: directory.number, location.partName)
            let status = try files.status(file.number)
            guard status.isOurs, status.size >= least, status.size > 0 else { return 0 }
            if status.size > most { try files.truncate(file.number, to: most) }
            descriptor = file
            inode = status.inode
            length = min(status.size, most)
            return length
        } catch {
            throw .disk(error, path)
        }
    }

    func append(_ bytes: ArraySlice<UInt8>, _ directories: inout DirectoryCache) throws(Failure) -> UInt64 {
        let file = try current(&directories)
        do throws(SystemError) {
            try files.write(file.number, bytes, at: length)
        } catch {
            // Back to whole appends; what is left behind when even this fails is overwritten or refused by `seal`.
            try? files.truncate(file.number, to: length)
            throw .disk(error, path)
        }
        length += UInt64(bytes.count)
        return length
    }

    func sync(_ directories: inout DirectoryCache) throws(Failure) -> UInt64 {
        if let broken { throw broken }
        guard descriptor != nil else { return 0 }
        let file = try current(&directories)
        do throws(SystemError) {
            try files.syncData(file.number)
        } catch {
            throw breaks(.disk(error, path))
        }
        return length
    }

    /// Everything of sealing but the sync, which is done for many files at once.
    func prepareSeal(
        _ last: [UInt8], expected: UInt64?, _ directories: inout DirectoryCache
    ) throws(Failure) -> (file: Descriptor, intent: FinishIntent) {
        if let broken { throw broken }
        let whole = length + UInt64(last.count)
        if let expected, whole != expected {
            throw Failure(
                whole < expected ? .connectionLost : .badResponse,
                "The server announced \(expected) bytes for \(path) and sent \(whole).")
        }
        if last.isEmpty { _ = try current(&directories) } else { _ = try append(last[...], &directories) }
        let file = try current(&directories)
        let status: FileStatus
        do throws(SystemError) {
            try files.changeMode(file.number, location.mode)
            status = try files.status(file.number)
        } catch {
            throw .disk(error, path)
        }
        guard status.size == length else { throw breaks(.changedByOthers(path)) }
        return (file, FinishIntent(device: status.device, inode: status.inode, size: length))
    }

    /// Closes the file. It is opened again only from a length that is trusted.
    @discardableResult
    func breaks(_ failure: Failure) -> Failure {
        descriptor = nil
        broken = failure
        return failure
    }

    func close() { descriptor = nil }

    /// The open file, created or opened again where needed.
    private func current(_ directories: inout DirectoryCache) throws(Failure) -> Descriptor {
        if let broken { throw broken }
        if let descriptor, descriptor.isOurs { return descriptor }
        let directory = try directories.descriptor(of: location.destination)
        do throws(SystemError) {
            if descriptor == nil {
                let file = try create(in: directory)
                inode = try files.status(file.number).inode
                descriptor = file
                return file
            }
            // The host closed our descriptor, and other data may go to its number by now.
            let file = try files.open(in: directory.number, location.partName)
            let status = try files.status(file.number)
            if status.isOurs, status.inode == inode, status.size >= length {
                descriptor = file
                return file
            }
        } catch {
            throw .disk(error, path)
        }
        throw breaks(.changedByOthers(path))
    }

    private func create(in directory: Descriptor) throws(SystemError) -> Descriptor {
        do {
            return try files.create(in: directory.number, location.partName)
        } catch where error.code == EEXIST {
            try files.remove(location.partName, in: directory.number)
            return try files.create(in: directory.number, location.partName)
        }
    }
}
