extension ResponseSummary {
    /// The header fields that programs and the engine need most. They are stored before all other fields, with their
    /// names as written here.
    static let chosen = [
        "ETag", "Last-Modified", "Content-Type", "Content-Disposition", "Content-Language", "Date", "Cache-Control",
        "Expires", "Retry-After", "Repr-Digest", "Content-Digest", "Link",
    ]

    /// The longest value of a chosen header, in bytes. If the header is repeated, the limit is for all its values and
    /// the further names together. Longer values are left out, so that a server cannot fill the store.
    static let valueSize = 4_096

    /// The limit of all names and values together, in bytes. If a header that is not chosen would exceed this limit,
    /// all headers of its name are left out. Only the chosen headers can exceed it.
    static let headersSize = 16_384

    static func isChosen(_ field: ResponseField) -> Bool { chosen.contains { field.isNamed($0) } }

    /// All headers of a name are kept, or none of them. So a repeated header never looks as if the server had sent it
    /// once.
    ///
    /// This initializer removes `secrets` from the headers that are not in `chosen`. The caller removes secrets from
    /// the chosen headers with `SecretRedactor.redacted(head)`.
    public init(_ head: ResponseHead, _ secrets: SecretRedactor = SecretRedactor()) {
        self.init()
        httpStatus = head.status
        finalURL = head.finalURL.utf8.count <= Limits.urlSize ? head.finalURL : nil
        mediaType = head.plainText("Content-Type").flatMap { $0.utf8.count <= Self.valueSize ? $0 : nil }
        headers = Self.chosen.flatMap { name in Self.values(of: head, name).map { HeaderField(name, $0) } }
        var omitted: Set<String> = []
        var size = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        for field in head.fields where !Self.isChosen(field) {
            let name = field.name.lowercased()
            if omitted.contains(name) { continue }
            let value = secrets.redacted(field.plainText)
            let next = size + field.name.utf8.count + value.utf8.count
            guard next <= Self.headersSize else {
                omitted.insert(name)
                continue
            }
            headers.append(HeaderField(field.name, value))
            size = next
        }
        if !omitted.isEmpty { headers.removeAll { omitted.contains($0.name.lowercased()) } }
    }

    /// The values of a chosen header.
    private static func values(of head: ResponseHead, _ name: String) -> [String] {
        let values = head.texts(name)
        let size = values.reduce((values.count - 1) * name.utf8.count) { $0 + $1.utf8.count }
        return size <= valueSize ? values : []
    }

    /// The summary for a file whose bytes came, in part or completely, in earlier attempts (runs of the download).
    /// Values that the present attempt's response does not state come from the checkpoint, the record of the earlier
    /// attempts. If the file already had all bytes, the present attempt has no response. If the response has only the
    /// rest of the file, it may omit Last-Modified (RFC 9110, section 15.3.7).
    public func completed(from checkpoint: Checkpoint) -> ResponseSummary {
        var completed = self
        if finalURL == nil, !checkpoint.finalURL.isEmpty { completed.finalURL = checkpoint.finalURL }
        guard !headers.contains(where: { ["ETag", "Last-Modified"].contains($0.name) }) else { return completed }
        let validator = checkpoint.validator
        completed.headers =
            [("ETag", validator.entityTag), ("Last-Modified", validator.lastModified)]
            .compactMap { name, value in value.map { HeaderField(name, $0) } } + headers
        return completed
    }
}
