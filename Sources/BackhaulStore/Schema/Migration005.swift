extension Schema {
    /// Version 5: unpredictable names of part files (unfinished downloads), and the identity and checksums of each part
    /// file.
    static let migration005 = """
        -- A random number in the name of the task's part file. 0: the name is that of earlier versions, without one.
        ALTER TABLE tasks ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
        -- Of the part file: part_checksum is of its first part_length bytes, synced_checksum of its first
        -- synced_offset. NULL: not known.
        ALTER TABLE checkpoints ADD COLUMN part_device INTEGER;
        ALTER TABLE checkpoints ADD COLUMN part_inode INTEGER;
        ALTER TABLE checkpoints ADD COLUMN part_length INTEGER;
        ALTER TABLE checkpoints ADD COLUMN part_checksum INTEGER;
        ALTER TABLE checkpoints ADD COLUMN synced_checksum INTEGER;
        -- A task may leave several part files.
        ALTER TABLE leftovers RENAME TO earlier_leftovers;
        CREATE TABLE leftovers (
            task_id INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            destination TEXT,
            part INTEGER NOT NULL,
            PRIMARY KEY (task_id, part)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO leftovers SELECT task_id, kind, destination, 0 FROM earlier_leftovers;
        DROP TABLE earlier_leftovers;
        """
}
