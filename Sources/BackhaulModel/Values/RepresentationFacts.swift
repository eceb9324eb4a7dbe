/// What an answer says of the whole file beside its validators, remembered for attempts that continue it.
public struct RepresentationFacts: Equatable, Sendable {
    /// That the server promises for the whole file.
    public var digest: Checksum?
    /// In small letters; nil for none.
    public var contentEncoding: String?
    /// Of the file, when the server is to name it.
    public var name: String?

    public init(digest: Checksum? = nil, contentEncoding: String? = nil, name: String? = nil) {
        self.digest = digest
        self.contentEncoding = contentEncoding
        self.name = name
    }
}

/// The version of a resource that a task has put at a destination, while the file is still there as it was left.
public struct FileVersion: Equatable, Sendable {
    /// As sent, weak ones, too: what has not changed in a way that matters is not fetched (RFC 9110, section 8.8.3.2).
    public var entityTag: String?
    public var lastModified: String?
    /// That answered, after redirects.
    public var finalURL: String
    public var size: UInt64

    public init(entityTag: String?, lastModified: String?, finalURL: String, size: UInt64) {
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.finalURL = finalURL
        self.size = size
    }
}

/// A file that lies at a destination already.
public struct FoundFile: Equatable, Sendable {
    public var size: UInt64
    /// Nil when none was asked for.
    public var checksum: Checksum?

    public init(size: UInt64, checksum: Checksum? = nil) {
        self.size = size
        self.checksum = checksum
    }
}
