internal import CSQLite

/// Configures SQLite in a process of Backhaul, such as the daemon. In other processes, only the host may configure
/// SQLite.
public enum ProcessSQLite {
    /// Disables SQLite's memory statistics, which take a mutex for each allocation. Must be called before any database
    /// is opened.
    public static func prepare() { bhs_disable_memory_statistics() }
}
