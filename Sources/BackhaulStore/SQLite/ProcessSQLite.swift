internal import CSQLite

/// Configures SQLite in a process of Backhaul's own programs, such as the daemon. In other processes, only the program
/// that embeds the library may configure SQLite.
public enum ProcessSQLite {
    /// Disables SQLite's memory statistics, which take a mutex for each allocation. Call this function before the
    /// process opens a database.
    public static func prepare() { bhs_disable_memory_statistics() }
}
