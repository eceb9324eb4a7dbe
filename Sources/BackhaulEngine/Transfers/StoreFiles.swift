internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The paths of tasks' files: part files (unfinished downloads), kept files (finished downloads in the store) and
/// request bodies.
///
/// Each engine has one object of this type.
final class StoreFiles {
    private let directory: StoreDirectory
    private let kept: Destination
    private let bodies: Destination
    /// A text in the names of all part files of this store. No other store has the same text. The text is set when the
    /// store is open.
    private var tag = ""
    private var aliases = DirectoryAliases()

    init(_ directory: StoreDirectory) throws(Failure) {
        self.directory = directory
        bodies = try DestinationCheck.check(path: directory.bodyFile(named: "0"), ifExists: .replace)
        kept = try DestinationCheck.check(path: directory.keptPath + "/0", ifExists: .replace)
    }

    func open(tag: String) { self.tag = tag }

    /// The part file of a task, and its destination. The part file's name depends only on stored values, so that a
    /// later engine finds the file, and a later task can continue it. `tag` keeps the files of two stores apart.
    func location(of task: StoredTask) -> PartLocation {
        // The claim of a kept file sets its mode in the directory to which the file is moved.
        let mode = task.request.destination == nil ? FileMode(task.request.mode.bits) : task.request.mode
        return PartLocation(
            destination: task.request.destination ?? keptDestination(of: task.id),
            partName: partName(task.part), mode: mode,
            replace: task.request.destination == nil || task.request.ifExists != .fail)
    }

    /// - part: a random number that makes the name unique and unpredictable.
    func partName(_ part: UInt64) -> String { ".backhaul-\(tag)-\(String(part, radix: 16)).part" }

    func path(of leftover: Leftover) -> String {
        switch leftover.kind {
        case .part(let path):
            (path.map(Destination.directory(of:)) ?? directory.keptPath) + "/" + partName(leftover.part)
        case .kept: directory.keptFile(of: leftover.task)
        }
    }

    private func keptDestination(of task: TaskID) -> Destination {
        Destination(
            path: directory.keptFile(of: task), directoryDevice: kept.directoryDevice,
            directoryInode: kept.directoryInode)
    }

    /// The other paths of the destination, if its directory has several paths.
    func otherPaths(of destination: Destination) -> [String] { aliases.others(of: destination) }

    /// The store's own directories.
    var folders: [FileIdentity] { [directory.identity] + [kept, bodies].map(Self.directory(of:)) }

    private static func directory(of destination: Destination) -> FileIdentity {
        FileIdentity(device: destination.directoryDevice, inode: destination.directoryInode)
    }

    /// Fails when the destination is inside of the store, because a download could replace the store's own files.
    func checkIsOutside(_ destination: Destination) throws(Failure) {
        guard !folders.contains(Self.directory(of: destination)) else {
            throw Failure(
                .invalidArgument,
                "the destination \(destination.path) lies inside the store; choose a directory outside of it")
        }
    }
}
