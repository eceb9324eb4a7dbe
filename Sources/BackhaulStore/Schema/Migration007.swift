extension Schema {
    /// Version 7: no table refers to `tasks`. `EventOperations` removes the rows of all acknowledged tasks with one
    /// statement for each table. With foreign keys, SQLite ran a program for each task and each of the eight tables,
    /// which was half of the instructions of an acknowledgement.
    ///
    /// SQLite has no statement that removes a foreign key. Its documentation describes this change of `sqlite_schema`
    /// (https://www.sqlite.org/lang_altertable.html, section 7). It needs the same time for every number of tasks.
    static let migration007 = """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, ' REFERENCES tasks ON DELETE CASCADE', '') WHERE type = 'table';
        PRAGMA writable_schema = RESET;
        """
}
