public import BackhaulModel

/// Where a download is written and where it goes. The part file lies beside its destination, so that the last step is a
/// rename within one directory.
public struct PartLocation: Equatable, Sendable {
    public var destination: Destination
    /// Name of the part file in the destination's directory, at most 255 bytes, unlike any other task's: it is ours,
    /// and whatever lies there before the first byte is written is replaced.
    public var partName: String
    /// Permission bits of the finished file; until then only its owner may read it.
    public var mode: UInt32
    /// Whether a file that has the destination's name at the end is replaced.
    public var replace: Bool

    public init(destination: Destination, partName: String, mode: UInt32, replace: Bool) {
        self.destination = destination
        self.partName = partName
        self.mode = mode
        self.replace = replace
    }

    /// Of the part file.
    var path: String { destination.directory + "/" + partName }

    /// The part file in a message, by the name that the host knows.
    var partDescription: String { "the part file of \(destination.path)" }
}

/// How much of a part file that is there already may be believed.
public enum TrustedLength: Equatable, Sendable {
    /// After another boot: what was synced.
    case synced(UInt64)
    /// In the boot in which it was written: all that a checksum proves, if it holds at least what was synced.
    case allWritten(atLeastSynced: UInt64)
    case nothing
}
