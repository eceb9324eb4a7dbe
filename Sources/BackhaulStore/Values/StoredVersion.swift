public import BackhaulModel

/// A version that a task has put at a destination, and the file by which it is known again.
public struct StoredVersion: Equatable, Sendable {
    public var version: FileVersion
    public var inode: UInt64
    public var modifiedNanoseconds: Int64
}
