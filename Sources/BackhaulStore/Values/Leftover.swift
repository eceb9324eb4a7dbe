public import BackhaulModel

/// A file that no task needs any more.
public struct Leftover: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// The part file of a cancelled task; nil: in the store's folder of kept files.
        case part(destinationPath: String?)
        /// The kept file of a task that was acknowledged unclaimed.
        case kept
    }

    public var task: TaskID
    public var kind: Kind
    /// In the part file's name.
    public var part: UInt64 = 0
}
