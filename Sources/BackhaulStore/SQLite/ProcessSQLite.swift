internal import CSQLite

/// SQLite in a process that is the library's own, as a daemon's is. A host's SQLite is the host's to set up.
public enum ProcessSQLite {
    /// Before any database is opened. Otherwise SQLite takes a lock for each piece of memory, to count what it uses.
    public static func prepare() { bhs_count_no_memory() }
}
