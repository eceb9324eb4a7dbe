public import BackhaulModel

/// The paths of a download's part file (while the download runs) and of its destination (for the finished file). Both
/// are in the same directory, so that a rename can place the file.
public struct PartLocation: Equatable, Sendable {
    public var destination: Destination
    /// The name of the part file in the destination's directory, at most 255 bytes. No other task uses this name.
    /// Before the first byte is written, any other file with this name is replaced.
    public var partName: String
    /// The permissions of the finished file. Before the file is finished, only its owner may read it.
    public var mode: FileMode
    /// Whether an existing file at the destination is replaced when the file is placed.
    public var replace: Bool

    public init(destination: Destination, partName: String, mode: FileMode, replace: Bool) {
        self.destination = destination
        self.partName = partName
        self.mode = mode
        self.replace = replace
    }

    /// The path of the part file.
    var path: String { destination.directory + "/" + partName }

    /// The words for the part file in a message. They contain the destination, because the program that enqueued the
    /// download knows that path.
    var partDescription: String { "the part file of \(destination.path)" }
}

/// How much of an existing part file is trusted.
public enum TrustedLength: Equatable, Sendable {
    /// The synced bytes are trusted. This applies after a reboot.
    case synced(UInt64)
    /// If the file has at least the synced bytes, all bytes with a matching checksum are trusted. This applies if the
    /// machine was not rebooted.
    case allWritten(atLeastSynced: UInt64)
    case nothing

    var synced: UInt64 {
        switch self {
        case .synced(let length), .allWritten(let length): length
        case .nothing: 0
        }
    }
}
