public import BackhaulModel

/// The validators of a file that a task has placed at a destination, and the identity of that file.
public struct StoredRepresentation: Equatable, Sendable {
    public var representation: KnownRepresentation
    public var inode: UInt64
    public var modifiedNanoseconds: Int64
}
