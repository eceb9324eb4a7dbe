/// What identifies a representation between attempts (RFC 9110, section 8.8).
public struct Validator: Equatable, Sendable {
    /// A strong entity tag, with its quotes.
    public var entityTag: String?
    /// The date as the server sent it. It is used only without a strong entity tag.
    public var lastModified: String?

    public init(entityTag: String? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// The value for If-Range. Nil: the download cannot be continued safely.
    public var ifRange: String? { entityTag ?? lastModified }
}

/// Properties by which a part file is recognized.
public struct PartFingerprint: Equatable, Sendable {
    /// 0: not compared, because the file system's number may have changed.
    public var device: UInt64
    public var inode: UInt64
    /// The least number of bytes that the file has.
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

/// The length of a part file.
public struct PartLength: Equatable, Sendable {
    public var length: UInt64
    /// Nil: there is no file.
    public var stamp: PartFingerprint?

    public init(_ length: UInt64, _ stamp: PartFingerprint? = nil) {
        self.length = length
        self.stamp = stamp
    }
}

/// The durable facts about an incomplete download.
public struct Checkpoint: Equatable, Sendable {
    public var validator: Validator
    /// The URL that sent the response, after redirects. Empty: the host has given another URL for the same file since.
    public var finalURL: String
    /// The size of the whole file in bytes, if the server stated it.
    public var size: UInt64?
    /// The number of bytes synced to disk.
    public var syncedOffset: UInt64
    /// The boot in which it was written. In the same boot all bytes of the part file are trusted; in another boot only
    /// the synced ones.
    public var bootID: String
    public var facts = RepresentationMetadata()
    /// The stamp of the bytes that were written at the time. Nil in a checkpoint of an earlier version of the library.
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

    /// What the part file must match: the synced bytes, and in the same boot also the written ones. Empty in a
    /// checkpoint of an earlier version of the library.
    public func stamps(isSameBoot: Bool) -> [PartFingerprint] {
        guard let part else { return [] }
        let synced = PartFingerprint(
            device: isSameBoot ? part.device : 0, inode: part.inode, length: syncedOffset, checksum: syncedChecksum)
        return isSameBoot ? [synced, part] : [synced]
    }
}

extension Checkpoint {
    /// The facts about the file, without its bytes.
    var metadataOnly: Checkpoint {
        Checkpoint(
            validator: validator, finalURL: finalURL, size: size, syncedOffset: 0, bootID: "", facts: facts)
    }

    /// Whether there are no bytes. Then the checkpoint only states what the file must be if it has the same entity tag.
    var isMetadataOnly: Bool { syncedOffset == 0 && bootID.isEmpty }
}

/// The identity of the file that will be renamed to the destination. It is recorded before the rename, so that after a
/// crash the engine recognizes its own file under the final name.
public struct FinishIntent: Equatable, Sendable {
    /// 0: unknown, because the intent was recorded in another boot.
    public var device: UInt64
    public var inode: UInt64
    public var size: UInt64
    /// The file's name in its directory, if the server chose it; nil: the destination's name.
    public var name: String?

    public init(device: UInt64, inode: UInt64, size: UInt64, name: String? = nil) {
        self.device = device
        self.inode = inode
        self.size = size
        self.name = name
    }
}
