/// Values of a response by which a later attempt recognizes the same representation (RFC 9110, section 8.8). A
/// *representation* is the bytes of a resource at one time.
public struct Validator: Equatable, Sendable {
    /// A strong entity tag, with its quotes.
    public var entityTag: String?
    /// The date as the server sent it. If there is a strong entity tag, the date is not sent: it only shows whether a
    /// server has used the tag for two representations.
    public var lastModified: String?

    public init(entityTag: String? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// The value for If-Range; nil if the download cannot be continued safely.
    public var ifRange: String? { entityTag ?? lastModified }
}

/// Properties by which the engine, which runs the downloads, recognizes a part file. A download writes to the part file
/// until all bytes have arrived.
public struct PartFingerprint: Equatable, Sendable {
    /// The number of the device; 0: the device is not compared, because the number may have changed.
    public var device: UInt64
    public var inode: UInt64
    /// The number of bytes that the checksum covers. The file may have more bytes.
    public var length: UInt64
    /// The CRC-32C of these bytes; nil: unknown.
    public var checksum: UInt32?

    public init(device: UInt64, inode: UInt64, length: UInt64, checksum: UInt32?) {
        self.device = device
        self.inode = inode
        self.length = length
        self.checksum = checksum
    }
}

/// The length of a part file, with its fingerprint.
public struct PartLength: Equatable, Sendable {
    public var length: UInt64
    /// The fingerprint; nil if there is no file.
    public var fingerprint: PartFingerprint?

    public init(_ length: UInt64, _ fingerprint: PartFingerprint? = nil) {
        self.length = length
        self.fingerprint = fingerprint
    }
}

/// The durable facts about an incomplete download.
public struct Checkpoint: Equatable, Sendable {
    public var validator: Validator
    /// The URL that sent the response, after redirects. The text is empty if the host has given another URL for the
    /// same file since that response.
    public var finalURL: String
    /// The size of the whole file in bytes, if the server stated it.
    public var size: UInt64?
    /// The number of bytes synced to disk.
    public var syncedOffset: UInt64
    /// The boot in which the checkpoint was written. If the machine has not rebooted since then, all bytes of the part
    /// file are trusted. After a reboot, only the synced bytes are trusted.
    public var bootID: String
    public var facts = RepresentationMetadata()
    /// The fingerprint of the part file when the checkpoint was made. The fingerprint covers all written bytes, synced
    /// or not. Nil: unknown.
    public var part: PartFingerprint?
    /// The checksum of the synced bytes.
    public var syncedChecksum: UInt32?

    public init(
        validator: Validator, finalURL: String, size: UInt64?, syncedOffset: UInt64, bootID: String,
        facts: RepresentationMetadata = RepresentationMetadata(), part: PartFingerprint? = nil,
        syncedChecksum: UInt32? = nil
    ) {
        self.part = part
        self.syncedChecksum = syncedChecksum
        self.validator = validator
        self.finalURL = finalURL
        self.size = size
        self.syncedOffset = syncedOffset
        self.bootID = bootID
        self.facts = facts
    }

    /// The fingerprints that the part file must have. The first fingerprint covers the synced bytes. If the machine has
    /// not rebooted, a second fingerprint covers all written bytes. The list is empty if the fingerprint is unknown.
    public func fingerprints(isSameBoot: Bool) -> [PartFingerprint] {
        guard let part else { return [] }
        let synced = PartFingerprint(
            device: isSameBoot ? part.device : 0, inode: part.inode, length: syncedOffset, checksum: syncedChecksum)
        return isSameBoot ? [synced, part] : [synced]
    }
}

extension Checkpoint {
    /// A checkpoint that covers no bytes, with the same facts about the file.
    var metadataOnly: Checkpoint {
        Checkpoint(
            validator: validator, finalURL: finalURL, size: size, syncedOffset: 0, bootID: "", facts: facts)
    }

    /// Whether the checkpoint covers no bytes. If so, the download starts over. The checkpoint is then used only for
    /// one check of the next response: if the response has the checkpoint's strong entity tag, it must also have the
    /// checkpoint's size.
    var isMetadataOnly: Bool { syncedOffset == 0 && bootID.isEmpty }
}

/// The identity of the file that will be renamed to its final path: a finished download, or a file that a host claims
/// (moves out of the store). The engine records this identity before the rename. So the engine can recognize the file
/// under its final name after a crash.
public struct FinishIntent: Equatable, Sendable {
    /// The device; 0: unknown, because the intent was recorded in another boot.
    public var device: UInt64
    public var inode: UInt64
    public var size: UInt64
    /// The CRC-32C of the file's bytes, by which the file is recognized after a remount; nil if it is unknown.
    public var checksum: UInt32?
    /// The file's name in its directory, if the server chose it; nil: the destination's name.
    public var name: String?
    /// Of a claim: the identity of the file system that has the directory of the host's path. Nil if it is unknown.
    public var fileSystem: String?

    public init(device: UInt64, inode: UInt64, size: UInt64, checksum: UInt32? = nil, name: String? = nil) {
        self.device = device
        self.inode = inode
        self.size = size
        self.checksum = checksum
        self.name = name
    }
}
