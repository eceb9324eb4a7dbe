public import BackhaulModel

/// The paths of a download: its part file and its destination. Both are in one directory, so that the last step is a
/// rename.
public struct PartLocation: Equatable, Sendable {
    public var destination: Destination
    /// Name of the part file in the destination's directory, at most 255 bytes. No other task has it. It belongs to the
    /// engine: a file with this name is replaced before the first byte is written.
    public var partName: String
    /// Permission bits of the finished file. Until then only its owner may read it.
    public var mode: UInt32
    /// Whether an existing file with the destination's name is replaced at the end.
    public var replace: Bool

    public init(destination: Destination, partName: String, mode: UInt32, replace: Bool) {
        self.destination = destination
        self.partName = partName
        self.mode = mode
        self.replace = replace
    }

    /// The path of the part file.
    var path: String { destination.directory + "/" + partName }

    /// The part file in a message, by the destination that the host knows.
    var partDescription: String { "the part file of \(destination.path)" }
}

/// How much of an existing part file is trusted.
public enum TrustedLength: Equatable, Sendable {
    /// After another boot: the synced bytes.
    case synced(UInt64)
    /// In the boot in which it was written: all bytes that a checksum proves, if these are at least the synced ones.
    case allWritten(atLeastSynced: UInt64)
    case nothing
}
