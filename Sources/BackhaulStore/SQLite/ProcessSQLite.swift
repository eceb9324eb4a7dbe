internal import CSQLite

/// Configures SQLite in a process of Backhaul, such as a daemon. In a host, only the host configures SQLite.
public enum ProcessSQLite {
    /// Switches SQLite's memory statistics off, which cost a lock for each allocation. Must be called before any
    /// database is opened.
    public static func prepare() { bhs_disable_memory_statistics() }
}
