public import BackhaulModel

/// A file that no task needs any more.
public struct Leftover: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The part file (unfinished download) of a task that was cancelled, has failed, or has a new part file now. If
        /// `destinationPath` is nil, the part file is in the store's folder of kept files. Also the copy that an
        /// interrupted claim to this path has left; it has the name of a part file.
        case part(destinationPath: String?)
        /// The kept file (finished download in the store) of a task whose event was acknowledged, although the host has
        /// not claimed the file. Also the file of a task that was cancelled while the file got its name, or after that.
        case kept
    }

    public var task: TaskID
    public var kind: Kind
    /// The number in the part file's name; 0 for a kept file.
    public var part: UInt64 = 0
    /// The identity of the file system that has the file; nil if it is unknown.
    public var fileSystem: String?
    /// Whether the part file was retained for a later task, with its checkpoint.
    public var isRetained = false
}

/// A part of the list of leftovers.
public struct LeftoverPage: Sendable {
    public var files: [Leftover]
    /// The earliest future time at which a part is no longer retained, in Unix milliseconds.
    public var nextRemoval: Int64?
}
