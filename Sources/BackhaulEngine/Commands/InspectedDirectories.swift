internal import BackhaulModel

/// The directories that a disk thread has found usable for one client a short time ago. Commands with requests
/// for such a directory need no inspection.
///
/// The engine handles no other command of the client during an inspection. So without this cache, enqueues by several
/// threads of a client would wait for each other, and the store could not commit them together.
struct InspectedDirectories {
    /// How long a directory needs no further inspection. An inspection finds differences between the client's process
    /// and the engine's process, for example in their mounts or groups. Such differences rarely change while both
    /// processes run. If the engine loses its access to the directory within this time, the download reports the
    /// failure.
    static let validMilliseconds: Int64 = 1_000
    static let maximumCount = 64

    /// A directory, as the client has sent it.
    struct Identity: Hashable {
        private let path: String
        private let device: UInt64
        private let inode: UInt64

        init(_ destination: Destination) {
            path = destination.directory
            device = destination.directoryDevice
            inode = destination.directoryInode
        }
    }

    private struct Inspection {
        /// In milliseconds since boot.
        var time: Int64
        /// The identity of the directory's file system; nil if it is unknown.
        var fileSystem: String?
    }

    private var inspections: [Identity: Inspection] = [:]

    /// Whether the directory needs no inspection at this time.
    func contains(_ directory: Identity, at now: Int64) -> Bool {
        guard let inspection = inspections[directory] else { return false }
        return now - inspection.time < Self.validMilliseconds
    }

    /// The identity of the file system that the directory was on at its last inspection; nil if it is unknown.
    func fileSystem(of directory: Identity) -> String? { inspections[directory]?.fileSystem }

    /// Records that a disk thread has found the directories of these destinations usable, on these file systems.
    mutating func insert(_ destinations: [Destination], on fileSystems: [String?], at now: Int64) {
        for (directory, fileSystem) in zip(destinations.map(Identity.init), fileSystems) {
            if inspections[directory] == nil, inspections.count >= Self.maximumCount { inspections.removeAll() }
            inspections[directory] = Inspection(time: now, fileSystem: fileSystem)
        }
    }
}
