/// The database's tables, as the steps that made them. A step that was released is never edited: what comes later is a
/// new step.
enum Schema {
    static let fileName = "backhaul.sqlite3"
    static let logName = fileName + "-wal"

    /// "BHS1": which files are ours (https://www.sqlite.org/pragma.html#pragma_application_id).
    static let applicationID: Int64 = 0x4248_5331

    /// Step N brings a database of version N to version N + 1. A step of a few statements stands here itself.
    static let migrations = [first, second, third, fourth, fifth]

    /// Lives with the connection, in memory.
    static let temporary = """
        CREATE TEMP TABLE selected (id INTEGER PRIMARY KEY);
        CREATE TEMP TABLE running (id INTEGER PRIMARY KEY);
        """
}
