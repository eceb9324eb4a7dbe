internal import CBackhaul

/// The body of a request. The engine sends the body. The store is the directory with all durable data.
public enum Body: Hashable, Sendable {
    /// What the engine does with the files of a body.
    public enum Source: Int32, Hashable, Sendable {
        /// The engine reads the files in place. If a file changes after the enqueue, the task fails with
        /// `.bodyChanged`.
        case reference = 0
        /// The engine copies the files into the store at the enqueue. It uses reflinks if the file system supports
        /// them.
        case snapshot = 1
        /// The engine moves the files into the store at the enqueue, and removes them after the task has succeeded.
        ///
        /// If the task does not succeed, the files stay in the store until the program has acknowledged the task's
        /// event. Each file is then moved back to its old path.
        case consume = 2
    }

    /// The absolute path of a regular file.
    case file(String, Source = .reference)
    /// Bytes in memory, at most a mebibyte. The engine stores them.
    case bytes([UInt8])
    /// A form: multipart/form-data (RFC 7578).
    case form([Part], Source = .reference)
}

/// One part of a form.
public struct Part: Hashable, Sendable {
    /// The content of a part.
    public enum Content: Hashable, Sendable {
        /// Bytes in memory.
        case value([UInt8])
        /// The absolute path of a file.
        case file(String)
    }
    /// The name of the form's field.
    public var name: String
    /// What the part contains.
    public var content: Content
    /// The file name that is sent to the server. Nil: a file gets the last component of its path, and a value gets no
    /// file name.
    public var fileName: String?
    /// The Content-Type of the part. Nil: a file gets application/octet-stream, and a value gets no Content-Type.
    public var mediaType: String?

    /// Makes a part of a form.
    public init(_ name: String, _ content: Content, fileName: String? = nil, mediaType: String? = nil) {
        self.name = name
        self.content = content
        self.fileName = fileName
        self.mediaType = mediaType
    }

    /// Creates a part whose value is a text. The text is sent as UTF-8.
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
