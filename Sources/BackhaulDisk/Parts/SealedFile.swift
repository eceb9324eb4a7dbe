public import BackhaulModel

/// A whole, synced file before it has its name.
public struct SealedFile: Equatable, Sendable {
    public var intent: FinishIntent
    /// Of its bytes, when it was asked for.
    public var checksum: Checksum?
}

/// By what a file is known again as long as nobody writes into it or puts another in its place.
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
