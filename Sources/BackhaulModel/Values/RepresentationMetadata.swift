/// Facts about the whole file that the head of a response states, in addition to the file's `Validator` (entity tag or
/// date). These facts are stored for later attempts (runs of the task), which continue the download.
public struct RepresentationMetadata: Equatable, Sendable {
    /// The digest that the server states for the whole file.
    public var digest: Checksum?
    /// The content coding in lower case; nil if there is none.
    public var contentEncoding: String?
    /// The file name, if the server may choose it.
    public var name: String?

    public init(digest: Checksum? = nil, contentEncoding: String? = nil, name: String? = nil) {
        self.digest = digest
        self.contentEncoding = contentEncoding
        self.name = name
    }
}

/// Facts about a file that a task has downloaded to a path (the destination). These facts are valid while the file at
/// this path is unchanged.
public struct KnownRepresentation: Equatable, Sendable {
    /// The entity tag as the server sent it, even if it is weak. A weak tag is enough to show that a download would
    /// bring no relevant change (RFC 9110, section 8.8.3.2).
    public var entityTag: String?
    public var lastModified: String?
    /// The URL from which the response came, after redirects.
    public var finalURL: String
    public var size: UInt64

    public init(entityTag: String?, lastModified: String?, finalURL: String, size: UInt64) {
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.finalURL = finalURL
        self.size = size
    }
}

/// A file that exists at a destination.
public struct DestinationFile: Equatable, Sendable {
    public var size: UInt64
    /// The digest of the file; nil if none was requested.
    public var checksum: Checksum?

    public init(size: UInt64, checksum: Checksum? = nil) {
        self.size = size
        self.checksum = checksum
    }
}
