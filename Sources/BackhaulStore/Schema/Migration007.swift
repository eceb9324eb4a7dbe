extension Schema {
    /// Version 7: no table has a foreign key to `tasks`. `EventOperations` removes the rows of all acknowledged tasks
    /// with one statement for each table. With foreign keys, SQLite ran a separate action for each removed task and
    /// each of the eight tables. These actions needed half of the processor instructions of an acknowledgement.
    ///
    /// SQLite 3.37 has no statement that removes a foreign key. SQLite's documentation describes a procedure that
    /// changes `sqlite_schema` instead (https://www.sqlite.org/lang_altertable.html, section 7). The change takes the
    /// same time for any number of tasks. The procedure also increments `schema_version`, so that other connections
    /// read the schema again. This migration does not increment `schema_version`, because the lock of the database
    /// permits only one connection.
    static let migration007 = """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, ' REFERENCES tasks ON DELETE CASCADE', '') WHERE type = 'table';
        PRAGMA writable_schema = RESET;
        """
}
