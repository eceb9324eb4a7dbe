/// The database's tables, as the steps that make them. A released step is never edited: a later change is a new step.
enum Schema {
    static let fileName = "backhaul.sqlite3"
    static let logName = fileName + "-wal"

    /// "BHS1", which marks a database of Backhaul (https://www.sqlite.org/pragma.html#pragma_application_id).
    static let applicationID: Int64 = 0x4248_5331

    /// The step at index N brings a database of version N to version N + 1. A short step stands in this file.
    static let migrations = [first, second, third, fourth, fifth]

    /// Temporary tables of the connection, in memory.
    static let temporary = """
        CREATE TEMP TABLE selected (id INTEGER PRIMARY KEY);
        CREATE TEMP TABLE running (id INTEGER PRIMARY KEY);
        """
}
