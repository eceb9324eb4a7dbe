public import BackhaulModel

/// The validators of a file that a task placed at a destination, and the identity of that file.
public struct StoredVersion: Equatable, Sendable {
    public var version: FileVersion
    public var inode: UInt64
    public var modifiedNanoseconds: Int64
}
