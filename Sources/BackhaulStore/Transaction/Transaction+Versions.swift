public import BackhaulModel

/// Which versions tasks have put at destinations, for requests that want another one only.
extension Transaction {
    /// What is known of the file at the destination, and the file as it was left; nil when that version was of another
    /// URL.
    public func version(
        at destination: String, of url: String, in session: SessionID
    ) throws(Failure) -> StoredVersion? {
        try connection.first(Self.select, .id(session), .text(destination), .text(url)) { row throws(Failure) in
            let (tag, modified, finalURL) = (row.optionalText(), row.optionalText(), row.text())
            let inode = row.bits()
            let size = row.bits()
            return StoredVersion(
                version: FileVersion(entityTag: tag, lastModified: modified, finalURL: finalURL, size: size),
                inode: inode, modifiedNanoseconds: row.integer())
        }
    }

    /// The task that ends has put this file at its destination. Its validators are those of the answer that was
    /// recorded with the intent; without any, what was known of the destination is forgotten.
    public func recordVersion(
        of task: TaskID, at destination: String, of url: String, in session: SessionID, inode: UInt64, size: UInt64,
        modifiedNanoseconds: Int64
    ) throws(Failure) {
        let answer = try connection.first(Self.selectAnswer, .id(task)) { row throws(Failure) in
            (url: row.optionalText(), headers: try HeaderBlob.unpack(row.optionalBlob()))
        }
        func value(_ name: String) -> String? {
            answer?.headers.first { $0.name == name }.flatMap { Self.isPlain($0.value) ? $0.value : nil }
        }
        let (tag, modified) = (value("ETag"), value("Last-Modified"))
        guard tag != nil || modified != nil, let finalURL = answer?.url else {
            try connection.run(Self.forget, .id(session), .text(destination))
            return
        }
        try connection.run(
            Self.record, .id(session), .text(destination), .text(url), .text(finalURL), .optional(tag),
            .optional(modified), .bits(inode), .bits(size), .integer(modifiedNanoseconds))
    }

    /// Short enough to be kept and sent back with every request, and without bytes that text does not keep.
    private static func isPlain(_ text: String) -> Bool {
        (1...1_024).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    private static let select = Query(
        """
        SELECT entity_tag, last_modified, final_url, inode, size, modified_ns FROM validators
        WHERE session_id = ? AND destination = ? AND url = ?
        """)
    private static let selectAnswer = Query("SELECT final_url, headers FROM answers WHERE task_id = ?")
    private static let record = Query(
        """
        INSERT OR REPLACE INTO validators (session_id, destination, url, final_url, entity_tag, last_modified, inode,
            size, modified_ns)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let forget = Query("DELETE FROM validators WHERE session_id = ? AND destination = ?")
}
