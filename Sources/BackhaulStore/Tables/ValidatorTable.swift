internal import BackhaulModel

/// The table `validators` has the validators (ETag or Last-Modified) of files that tasks have downloaded to paths
/// (destinations).
struct ValidatorTable {
    let connection: Connection

    /// Returns the stored validators of the file at the destination. Returns nil when no validators are stored, or when
    /// the file came from another URL.
    func find(at destination: String, of url: String, in session: SessionID) throws(Failure) -> StoredRepresentation? {
        try connection.first(
            Self.select, .id(session), .text(destination), .text(url), read: StoredRepresentation.init(row:))
    }

    func write(
        _ stored: StoredRepresentation, at destination: String, of url: String, in session: SessionID
    ) throws(Failure) {
        try connection.run(
            Self.write, .id(session), .text(destination), .text(url), .text(stored.representation.finalURL),
            .optional(stored.representation.entityTag), .optional(stored.representation.lastModified),
            .bits(stored.inode), .bits(stored.representation.size), .integer(stored.modifiedNanoseconds))
    }

    func remove(at destination: String, in session: SessionID) throws(Failure) {
        try connection.run(Self.remove, .id(session), .text(destination))
    }

    private static let select = Query(
        StoredRepresentation.init(row:), "FROM validators WHERE session_id = ? AND destination = ? AND url = ?")
    private static let write = Query(
        """
        INSERT OR REPLACE INTO validators (session_id, destination, url, final_url, entity_tag, last_modified, inode,
            size, modified_ns)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let remove = Query("DELETE FROM validators WHERE session_id = ? AND destination = ?")
}

extension StoredRepresentation {
    fileprivate init(row: inout Row) {
        self.init(
            representation: KnownRepresentation(
                entityTag: row.optionalText("entity_tag"), lastModified: row.optionalText("last_modified"),
                finalURL: row.text("final_url"), size: row.bits("size")),
            inode: row.bits("inode"), modifiedNanoseconds: row.integer("modified_ns"))
    }
}
