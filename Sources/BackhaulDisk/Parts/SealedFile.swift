public import BackhaulModel

/// A part file that is complete and synced, but does not have its final name yet.
public struct SealedFile: Equatable, Sendable {
    public var intent: FinishIntent
    /// The digest of the file's bytes, if it was requested.
    public var checksum: Checksum?
}

/// The inode, size and time by which the file of a finished download is recognized. They stay the same while no program
/// changes or replaces the file.
public struct FileStamp: Equatable, Sendable {
    public var inode: UInt64
    public var size: UInt64
    public var modifiedNanoseconds: Int64

    public init(inode: UInt64, size: UInt64, modifiedNanoseconds: Int64) {
        self.inode = inode
        self.size = size
        self.modifiedNanoseconds = modifiedNanoseconds
    }

    init(_ status: FileStatus) {
        self.init(inode: status.inode, size: status.size, modifiedNanoseconds: status.modifiedNanoseconds)
    }
}
