internal import BackhaulModel
internal import CSQLite

/// Copies the readable rows of a damaged database to a new one with the same schema.
///
/// A table is read in the order of its keys up to the first page that cannot be read, and then from its end in the
/// opposite order. Between two such pages, a row with a number as its key is looked up by its number.
final class RowSalvage {
    /// The most rows of one table that are looked up.
    static let lookupLimit: Int64 = 1_000_000
    /// If the highest number of a table is unknown, the lookups end after this many failures in a row.
    private static let failureLimit = 2_000

    private struct Table {
        let name: String
        let ascending: Query
        let descending: Query
        /// Nil if the keys are not numbers.
        let lookup: Query?
        let insert: Query
        let columnCount: Int
    }

    /// A loss of rows of a table.
    struct Loss {
        var table: String
        var sentence: String
    }

    private let source: Connection
    private let target: Connection
    /// Why no more rows can be written. A row that cannot be read is no such failure.
    private var targetFailure: Failure?
    /// How many rows were copied.
    private(set) var count = 0
    /// How many rows of the present table break a rule of the schema.
    private var refused = 0

    init(source: Connection, target: Connection) { (self.source, self.target) = (source, target) }

    /// `hasLostChanges`: whether the newest numbers may be lost together with other changes.
    func copyAll(hasLostChanges: Bool) throws(Failure) -> [Loss] {
        try target.execute("PRAGMA defer_foreign_keys = ON")
        var losses: [Loss] = []
        for table in try tables() {
            refused = 0
            if let lost = try copy(table) {
                let sentence = "\(lost.rows) of the table `\(table.name)` cannot be read"
                losses.append(Loss(table: table.name, sentence: sentence))
            }
            if refused > 0 {
                let sentence = "rows of the table `\(table.name)` that contradict others, and are left out: \(refused)"
                losses.append(Loss(table: table.name, sentence: sentence))
            }
        }
        if try !copySequences(hasLostChanges) {
            losses.append(
                Loss(table: "sqlite_sequence", sentence: "rows of the table `sqlite_sequence` cannot be read"))
        }
        return losses
    }

    private func tables() throws(Failure) -> [Table] {
        let list = Query("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'")
        let names = try target.all(list) { row throws(Failure) in (row.text("name"), row.flag("wr")) }
        return try names.map { (name, hasNoRowID) throws(Failure) in try table(name, hasNoRowID) }
    }

    private func table(_ name: String, _ hasNoRowID: Bool) throws(Failure) -> Table {
        let list = Query("SELECT name, pk FROM pragma_table_info(?)")
        let columns = try target.all(list, .text(name)) { row throws(Failure) in
            (name: "\"\(row.text("name"))\"", key: row.integer("pk"))
        }
        let keys = columns.filter { $0.key > 0 }.sorted { $0.key < $1.key }.map(\.name)
        let order = hasNoRowID ? keys : ["rowid"]
        let names = columns.map(\.name).joined(separator: ", ")
        let select = "SELECT \(hasNoRowID ? "0" : "rowid"), \(names) FROM \(name) NOT INDEXED"
        let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
        return Table(
            name: name, ascending: Query("\(select) ORDER BY \(order.joined(separator: ", "))"),
            descending: Query("\(select) ORDER BY \(order.map { $0 + " DESC" }.joined(separator: ", "))"),
            lookup: hasNoRowID ? nil : Query("\(select) WHERE rowid = ?"),
            insert: Query("INSERT INTO \(name) (\(names)) VALUES (\(marks))"), columnCount: columns.count)
    }

    /// Returns the numbers of the rows that cannot be read, or nil if all rows were read.
    private func copy(_ table: Table) throws(Failure) -> LostNumbers? {
        let (first, isComplete) = try copy(table, table.ascending)
        if isComplete { return nil }
        let (next, _) = try copy(table, table.descending)
        var lost = LostNumbers()
        // The lost rows have numbers above `low`, and up to `high`.
        let low = first ?? 0
        let high = next.map { $0 > low ? $0 - 1 : low } ?? highestNumber(of: table.name) ?? .max
        guard let lookup = table.lookup, low < high else { return lost }
        let last = low < .max - Self.lookupLimit ? min(high, low + Self.lookupLimit) : high
        var (number, failures) = (low, 0)
        while number < last, high < .max || failures < Self.failureLimit {
            number += 1
            if try copy(table, lookup, [.integer(number)]).1 {
                failures = 0
            } else {
                failures += 1
                lost.add(number...number)
            }
        }
        // The numbers that were not looked up.
        if number < high { lost.add(number + 1...high) }
        return lost
    }

    /// Copies rows up to the first row that cannot be read. Returns the key of the last copied row if it is a number,
    /// and whether all rows were read.
    private func copy(_ table: Table, _ query: Query, _ values: [Value] = []) throws(Failure) -> (Int64?, Bool) {
        var last: Int64?
        do throws(Failure) {
            try source.each(query, values) { row throws(Failure) in
                let key = row.integer()
                try insert((0..<table.columnCount).map { _ in row.value() }, table)
                last = key
            }
            return (last, true)
        } catch {
            if let targetFailure { throw targetFailure }
            if [.outOfResources, .engineFailed].contains(error.status) { throw error }
            return (last, false)
        }
    }

    /// Inserts a row, unless it breaks a rule of the schema: then it is damaged.
    private func insert(_ values: [Value], _ table: Table) throws(Failure) {
        do throws(Failure) {
            try target.run(table.insert, values)
            count += 1
        } catch where ![SQLITE_CONSTRAINT, SQLITE_MISMATCH].contains(Int32(truncatingIfNeeded: error.detail) & 0xFF) {
            targetFailure = error
            throw error
        } catch {
            refused += 1
        }
    }

    // MARK: Numbers of rows

    /// Makes new rows get higher numbers than all old ones, which a host may know. If the highest old numbers are not
    /// known, new numbers begin far above the numbers that any row states. Returns whether the old numbers can be read.
    private func copySequences(_ hasLostChanges: Bool) throws(Failure) -> Bool {
        let known = try? source.all(Self.sequences) { row throws(Failure) in (row.text("name"), row.integer("seq")) }
        for (name, number) in known ?? [] { try raise(name, to: number) }
        if known != nil, !hasLostChanges { return true }
        let references = try target.all(Self.references) { row throws(Failure) in
            (row.text("owner"), row.text("expression"), row.text("tables.name"))
        }
        for (owner, expression, table) in references {
            let number = try target.pragma("SELECT max(\(expression)) FROM \(table) WHERE \(expression) < 1 << 62")
            try raise(owner, to: number.flatMap { Int64($0) } ?? 0)
        }
        try target.run(Self.skipSequences, .integer(Self.lookupLimit))
        return known != nil
    }

    private func raise(_ name: String, to number: Int64) throws(Failure) {
        try target.run(Self.insertSequence, .text(name))
        try target.run(Self.raiseSequence, .text(name), .integer(number))
    }

    /// Returns the highest number that a row of the table may have, or nil if it is unknown.
    private func highestNumber(of table: String) -> Int64? {
        // These tables have numbers of their own.
        if ["attempts", "clients"].contains(table) { return nil }
        return (try? source.first(Self.newest) { row throws(Failure) in row.optionalInteger() }).flatMap { $0 } ?? nil
    }

    private static let sequences = Query("SELECT name, seq FROM sqlite_sequence")
    private static let newest = Query("SELECT max(seq) FROM sqlite_sequence")
    private static let insertSequence = Query(
        "INSERT INTO sqlite_sequence SELECT ?1, 0 WHERE ?1 NOT IN (SELECT name FROM sqlite_sequence)")
    private static let raiseSequence = Query("UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1")
    private static let skipSequences = Query("UPDATE sqlite_sequence SET seq = seq + ? WHERE seq < 1 << 62")
    /// The values that state numbers of each table `owner` with AUTOINCREMENT. For example, `tasks` is the owner of all
    /// columns `task_id` and `last_task_id`.
    private static let references = Query(
        """
        WITH numbered AS (SELECT name AS owner, iif(name = 'activities', 'activity', rtrim(name, 's')) AS singular
            FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%')
        SELECT owner, keys.name AS expression, tables.name
        FROM numbered, pragma_table_list AS tables, pragma_table_info(tables.name) AS keys
        WHERE tables.schema = 'main' AND tables.name NOT LIKE 'sqlite_%' AND (owner = tables.name AND keys.name = 'id'
            OR keys.name IN (singular || '_id', singular || 's_id', 'newest_' || singular)
            OR keys.name LIKE '%_' || singular || '_id')
        UNION ALL SELECT 'tasks', 'id >> 20', 'attempts'
        """)
}

/// Numbers of rows that cannot be read.
private struct LostNumbers {
    /// Empty if the keys of the table are not numbers.
    private var ranges: [ClosedRange<Int64>] = []

    var rows: String {
        if ranges.isEmpty { return "rows" }
        let texts = ranges.map { range in
            if range.upperBound == .max { return "\(range.lowerBound) and higher" }
            return range.lowerBound == range.upperBound
                ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        }
        return "the rows \(texts.joined(separator: ", "))"
    }

    /// Adds numbers that are above all earlier ones.
    mutating func add(_ range: ClosedRange<Int64>) {
        if let last = ranges.last, last.upperBound == range.lowerBound - 1 {
            ranges[ranges.count - 1] = last.lowerBound...range.upperBound
        } else {
            ranges.append(range)
        }
    }
}
