/// What identifies a representation between attempts (RFC 9110, section 8.8).
public struct Validator: Equatable, Sendable {
    /// A strong entity tag, with its quotes.
    public var entityTag: String?
    /// As sent. Used only without a strong entity tag.
    public var lastModified: String?

    public init(entityTag: String? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// Nil when the answer allows no safe continuation.
    public var ifRange: String? { entityTag ?? lastModified }
}

/// By which a part file is known again.
public struct PartStamp: Equatable, Sendable {
    /// 0: the file system may have got another number.
    public var device: UInt64
    public var inode: UInt64
    /// It has these bytes at least.
    public var length: UInt64
    /// Of these bytes (CRC-32C); nil: not known.
    public var checksum: UInt32?

    public init(device: UInt64, inode: UInt64, length: UInt64, checksum: UInt32?) {
        self.device = device
        self.inode = inode
        self.length = length
        self.checksum = checksum
    }
}

/// How long a part file is.
public struct PartLength: Equatable, Sendable {
    public var length: UInt64
    /// Nil: there is no file.
    public var stamp: PartStamp?

    public init(_ length: UInt64, _ stamp: PartStamp? = nil) {
        self.length = length
        self.stamp = stamp
    }
}

/// What is durable about a download that is not whole.
public struct Checkpoint: Equatable, Sendable {
    public var validator: Validator
    /// The URL that answered, after redirects. Empty: the host has given another since then, for the same file.
    public var finalURL: String
    /// Bytes of the whole file, when the server told.
    public var size: UInt64?
    /// Bytes synced to disk.
    public var syncedOffset: UInt64
    /// The boot in which it was written: in the same boot all bytes of the part file are trusted, after another boot
    /// only the synced ones.
    public var bootID: String
    public var facts = RepresentationFacts()
    /// Of the bytes that were written when it was made. Nil in a checkpoint of an earlier version's.
    public var part: PartStamp?
    /// Of the synced bytes.
    public var syncedChecksum: UInt32?

    public init(
        validator: Validator, finalURL: String, size: UInt64?, syncedOffset: UInt64, bootID: String,
        facts: RepresentationFacts = RepresentationFacts(), part: PartStamp? = nil,
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

    /// What the part file is to have: as much as was synced, and in the same boot as much as was written. Empty in a
    /// checkpoint of an earlier version.
    public func stamps(isSameBoot: Bool) -> [PartStamp] {
        guard let part else { return [] }
        let synced = PartStamp(
            device: isSameBoot ? part.device : 0, inode: part.inode, length: syncedOffset, checksum: syncedChecksum)
        return isSameBoot ? [synced, part] : [synced]
    }
}

extension Checkpoint {
    /// What was said of the file, without its bytes.
    var promise: Checkpoint {
        Checkpoint(
            validator: validator, finalURL: finalURL, size: size, syncedOffset: 0, bootID: "", facts: facts)
    }

    /// There are no bytes: it says only what the file must be if its entity tag is the same.
    var isPromise: Bool { syncedOffset == 0 && bootID.isEmpty }
}

/// Which file will be renamed to the destination: recorded before the rename, so that after a crash our own file under
/// the final name is not taken for a stranger's.
public struct FinishIntent: Equatable, Sendable {
    /// 0: not known, because it was recorded in another boot.
    public var device: UInt64
    public var inode: UInt64
    public var size: UInt64
    /// Of the file in its directory, when the server has named it; nil: the destination's.
    public var name: String?

    public init(device: UInt64, inode: UInt64, size: UInt64, name: String? = nil) {
        self.device = device
        self.inode = inode
        self.size = size
        self.name = name
    }
}
