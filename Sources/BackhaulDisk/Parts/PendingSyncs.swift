internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// The delayed syncs of one batch: the jobs that a disk thread performs together. Syncs take most of the time of a
/// batch. If the syncs are done together, several files share one commit of the file system's journal. One sync of a
/// directory serves all names that were added or removed in it.
struct PendingSyncs {
    enum Scope {
        /// Content and length.
        case data
        /// Content, length and attributes.
        case attributes
        /// Content, length and attributes. After a successful sync, the descriptor is closed.
        case attributesThenClose
    }

    /// A file that was made and completely written in this batch.
    struct NewFile {
        /// The file's directory, which was opened before the file was written.
        var directory: OpenDirectory
        var size: UInt64
    }

    private struct File {
        var descriptor: Descriptor
        var scope: Scope
        var new: NewFile?
        var failed: () -> Void
        var then: (SystemError?) -> Void
    }

    private struct Name {
        var directory: OpenDirectory
        var then: (SystemError?) -> Void
    }

    private let files: FileSystem
    private var pendingFiles: [File] = []
    private var pendingNames: [Name] = []
    private var decision = BatchSyncDecision()

    init(files: FileSystem) { self.files = files }

    var count: Int { pendingFiles.count + pendingNames.count }

    /// Adds the sync of a file. If `new` is given, the file may be synced together with other files. If the sync fails,
    /// `failed` is called before other files are synced, and `then` after the syncs of all files.
    mutating func add(
        _ file: Descriptor, _ scope: Scope, new: NewFile? = nil, failed: @escaping () -> Void = {},
        then: @escaping (SystemError?) -> Void
    ) {
        pendingFiles.append(File(descriptor: file, scope: scope, new: new, failed: failed, then: then))
    }

    /// Adds the sync of a directory in which a name was added or removed.
    mutating func add(_ directory: OpenDirectory, then: @escaping (SystemError?) -> Void) {
        pendingNames.append(Name(directory: directory, then: then))
    }

    mutating func finish() {
        let files = pendingFiles
        let names = pendingNames
        pendingFiles.removeAll(keepingCapacity: true)
        pendingNames.removeAll(keepingCapacity: true)
        let synced = syncNewFilesTogether(files)
        let others = files.filter { synced == nil || $0.new?.directory.status.device != synced }
        // This loop lets the disk write several files at the same time. Without this loop, 10,000 files of 16 KiB take
        // 1.2 times as long.
        if others.count > 1 {
            for file in others { self.files.startWriteBack(file.descriptor.number) }
        }
        let outcomes = files.map { sync($0, syncedDevice: synced) }
        for (file, outcome) in zip(files, outcomes) { file.then(outcome) }
        finish(names, syncedDevice: synced)
    }

    /// Syncs the new files with one call of syncfs(2), if this is cheaper. If the call succeeds, all new files and
    /// names on one device are durable, and the result is this device. Returns nil if there was no call or it failed.
    /// In this case, each file is synced by its own descriptor, which reports the errors of that file.
    private mutating func syncNewFilesTogether(_ files: [File]) -> UInt64? {
        let new = files.compactMap(\.new)
        guard new.count >= BatchSyncDecision.minimumFiles, let directory = new.first?.directory,
            let space = directory.space, self.files.batchSync.isSupported(space)
        else { return nil }
        let device = directory.status.device
        let together = new.filter { $0.directory.status.device == device }
        let bytes = together.reduce(0) { $0 + $1.size }
        guard
            decision.syncsTogether(
                files: together.count, bytes: bytes, dirty: self.files.batchSync.dirtyBytes()),
            (try? self.files.syncFileSystem(directory.number)) != nil
        else { return nil }
        return device
    }

    private func sync(_ file: File, syncedDevice: UInt64?) -> SystemError? {
        do throws(SystemError) {
            if syncedDevice == nil || file.new?.directory.status.device != syncedDevice {
                switch file.scope {
                case .data: try files.syncData(file.descriptor.number)
                case .attributes, .attributesThenClose: try files.sync(file.descriptor.number)
                }
            }
            if file.scope == .attributesThenClose { file.descriptor.close() }
            return nil
        } catch {
            file.failed()
            return error
        }
    }

    private func finish(_ names: [Name], syncedDevice: UInt64?) {
        var outcomes: [String: SystemError?] = [:]
        for name in names where outcomes[name.directory.path] == nil && name.directory.status.device != syncedDevice {
            do throws(SystemError) {
                try files.syncDirectory(name.directory.number)
                outcomes.updateValue(nil, forKey: name.directory.path)
            } catch {
                outcomes.updateValue(error, forKey: name.directory.path)
            }
        }
        for name in names { name.then(outcomes[name.directory.path] ?? nil) }
    }
}
