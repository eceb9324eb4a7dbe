public import BackhaulModel

/// The validators (ETag or Last-Modified) of a file that a task has downloaded to a path, and the identity of that
/// file.
public struct StoredRepresentation: Equatable, Sendable {
    public var representation: KnownRepresentation
    public var inode: UInt64
    public var modifiedNanoseconds: Int64
}
