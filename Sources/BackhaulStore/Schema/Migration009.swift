extension Schema {
    /// Version 9: the identities of files that are being moved out of the store.
    static let migration009 = """
        -- A host claims the file of an ended task: the file is moved to a path of the host. The row has the file's
        -- identity. It is written before the move, and removed when the claim is recorded. device: 0 if not known.
        CREATE TABLE claims (
            task_id INTEGER PRIMARY KEY,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL
        ) STRICT;
        """
}
