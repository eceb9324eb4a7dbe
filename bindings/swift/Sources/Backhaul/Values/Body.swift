internal import CBackhaul

/// The body of a request.
public enum Body: Hashable, Sendable {
    /// What the engine does with the files of a body.
    public enum Source: Int32, Hashable, Sendable {
        /// Reads them where they are; a change after the enqueue is `.bodyChanged`.
        case reference = 0
        /// Copies them into the store at the enqueue, by reflink where the file system can.
        case snapshot = 1
        /// Moves them into the store at the enqueue and removes them after success. When the task ends otherwise, they
        /// return to their own places when its event is acknowledged; until then the event has the path.
        case consume = 2
    }

    /// Absolute path of a regular file.
    case file(String, Source = .reference)
    /// Bytes, which are kept in the store; at most a mebibyte.
    case bytes([UInt8])
    /// multipart/form-data (RFC 7578).
    case form([Part], Source = .reference)
}

/// One part of a form.
public struct Part: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case value([UInt8])
        /// Absolute path.
        case file(String)
    }
    public var name: String
    public var content: Content
    /// Sent to the server; nil: the last part of the file's path, none for a value.
    public var fileName: String?
    /// Nil: application/octet-stream for a file, none for a value.
    public var mediaType: String?

    public init(_ name: String, _ content: Content, fileName: String? = nil, mediaType: String? = nil) {
        self.name = name
        self.content = content
        self.fileName = fileName
        self.mediaType = mediaType
    }

    /// A text, as UTF-8.
    public init(_ name: String, _ value: String) { self.init(name, .value(Array(value.utf8))) }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_part {
        var value = bh_part()
        value.struct_size = MemoryLayout<bh_part>.size
        value.name = try arena.string(name, "a part's name")
        switch content {
        case .value(let bytes):
            value.value = arena.bytes(bytes)
            value.value_size = bytes.count
        case .file(let path): value.file = try arena.string(path, "a part's file")
        }
        value.file_name = try arena.optionalString(fileName, "a part's file name")
        value.media_type = try arena.optionalString(mediaType, "a part's media type")
        return value
    }
}
