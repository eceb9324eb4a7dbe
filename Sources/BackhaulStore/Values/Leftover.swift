public import BackhaulModel

/// A file that no task needs any more.
public struct Leftover: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// A part file that no task needs any more: its task was cancelled, has failed, or has another part file now.
        /// Nil: the file is in the store's folder of kept files.
        case part(destinationPath: String?)
        /// The kept file of a task that was acknowledged without a claim.
        case kept
    }

    public var task: TaskID
    public var kind: Kind
    /// The number in the part file's name.
    public var part: UInt64 = 0
}
