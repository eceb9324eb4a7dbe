internal import BackhaulModel
internal import BackhaulPlatform

/// Open descriptors of the directories that were used last. Belongs to one disk thread.
struct DirectoryCache {
    static let capacity = 16

    private struct Entry {
        var path: String
        var status: FileStatus
        var descriptor: Descriptor
        var wasVerified: Bool
    }

    private let files: FileSystem
    /// The one used last at the end.
    private var entries: [Entry] = []

    init(files: FileSystem) { self.files = files }

    /// The destination's directory, which must be the one that the host saw.
    mutating func descriptor(of destination: Destination) throws(Failure) -> Descriptor {
        let path = destination.directory
        if let index = entries.lastIndex(where: { $0.path == path }) {
            var entry = entries.remove(at: index)
            do throws(SystemError) {
                // Once per batch: another directory may lie at the path by now, or the host has closed our descriptor.
                if !entry.wasVerified, entry.descriptor.isOurs {
                    entry.wasVerified = try files.status(of: path)?.isSameFile(as: entry.status) ?? false
                }
            } catch {
                throw .disk(error, path)
            }
            if entry.wasVerified {
                entries.append(entry)
                try check(entry.status, destination)
                return entry.descriptor
            }
        }
        let entry = try open(path)
        try check(entry.status, destination)
        if entries.count >= DirectoryCache.capacity { entries.removeFirst() }
        entries.append(entry)
        return entry.descriptor
    }

    /// The next use of each looks again whether it still is what its path says.
    mutating func beginBatch() {
        for index in entries.indices { entries[index].wasVerified = false }
    }

    private func open(_ path: String) throws(Failure) -> Entry {
        do throws(SystemError) {
            let descriptor = try files.openDirectory(path)
            let status = try files.status(descriptor.number)
            return Entry(path: path, status: status, descriptor: descriptor, wasVerified: true)
        } catch {
            throw .disk(SystemError(code: error.code, attempt: "Cannot open the directory"), path)
        }
    }

    private func check(_ status: FileStatus, _ destination: Destination) throws(Failure) {
        guard status.device == destination.directoryDevice, status.inode == destination.directoryInode else {
            throw Failure(
                .destinationUnavailable,
                "The engine sees another directory at \(destination.directory) than the program that asked for the "
                    + "download; start both in the same mount namespace, and do not move the directory.")
        }
    }
}
