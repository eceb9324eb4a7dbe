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
    private static let failureLimit: Int64 = 2_000

    private struct Table {
        let name: String
        let ascending: Query
        let descending: Query
        /// Nil if the keys are not numbers.
        let lookup: Query?
        let insert: Query
        let columnCount: Int
    }

    private let source: Connection
    private let target: Connection
    /// Why no more rows can be written. A row that cannot be read is no such failure.
    private var targetFailure: Failure?

    init(source: Connection, target: Connection) { (self.source, self.target) = (source, target) }

    /// A table of which some rows could not be read.
    struct Loss {
        var table: String
        /// The numbers that these rows may have. Empty if the keys of the table are not numbers.
        var numbers: [ClosedRange<Int64>] = []

        var sentence: String {
            let ranges = numbers.map { range in
                if range.upperBound == .max { return "\(range.lowerBound) and higher" }
                return range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
            }
            let rows = numbers.isEmpty ? "rows" : "the rows \(ranges.joined(separator: ", "))"
            return "\(rows) of the table `\(table)` cannot be read"
        }

        mutating func add(_ range: ClosedRange<Int64>) {
            if let last = numbers.last, last.upperBound + 1 == range.lowerBound {
                numbers[numbers.count - 1] = last.lowerBound...range.upperBound
            } else {
                numbers.append(range)
            }
        }
    }

    func copyAll() throws(Failure) -> [Loss] {
        try target.execute("PRAGMA defer_foreign_keys = ON")
        var losses: [Loss] = []
        for table in try tables() {
            if let loss = try copy(table) { losses.append(loss) }
        }
        if try !copySequences() { losses.append(Loss(table: "sqlite_sequence")) }
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
            insert: Query("INSERT OR IGNORE INTO \(name) (\(names)) VALUES (\(marks))"), columnCount: columns.count)
    }

    /// Returns nil if all rows were read.
    private func copy(_ table: Table) throws(Failure) -> Loss? {
        let (first, isComplete) = try copy(table, table.ascending)
        if isComplete { return nil }
        let (last, _) = try copy(table, table.descending)
        var loss = Loss(table: table.name)
        // The higher numbers may be unknown.
        let (start, end) = ((first ?? 0) + 1, last ?? newestNumber() ?? .max)
        guard let lookup = table.lookup, start <= end else { return loss }
        let lookups = start...min(end, start + Self.lookupLimit)
        for number in lookups where try !copy(table, lookup, [.integer(number)]).1 {
            loss.add(number...number)
            if end == .max, (loss.numbers.last?.count ?? 0) >= Self.failureLimit { break }
        }
        // The numbers that were not looked up.
        let tail = end == .max ? loss.numbers.last?.upperBound ?? lookups.upperBound : lookups.upperBound
        if tail < end { loss.add(tail + 1...end) }
        return loss
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
            if error.status == .outOfResources { throw error }
            return (last, false)
        }
    }

    /// Inserts a row, unless it breaks a rule of the schema: then it is damaged.
    private func insert(_ values: [Value], _ table: Table) throws(Failure) {
        do throws(Failure) {
            try target.run(table.insert, values)
        } catch where ![SQLITE_CONSTRAINT, SQLITE_MISMATCH].contains(Int32(truncatingIfNeeded: error.detail) & 0xFF) {
            targetFailure = error
            throw error
        } catch {}
    }

    // MARK: Numbers of rows

    /// Makes new rows get higher numbers than all old ones, which a host may know. Returns whether the old numbers are
    /// known.
    private func copySequences() throws(Failure) -> Bool {
        let known = try? source.all(Self.sequences) { row throws(Failure) in (row.text("name"), row.integer("seq")) }
        for (name, number) in known ?? [] {
            try target.run(Self.insertSequence, .text(name))
            try target.run(Self.raiseSequence, .text(name), .integer(number))
        }
        if known == nil { try target.run(Self.skipSequences, .integer(Self.lookupLimit)) }
        return known != nil
    }

    private func newestNumber() -> Int64? {
        (try? source.first(Self.newest) { row throws(Failure) in row.optionalInteger() }).flatMap { $0 }.flatMap { $0 }
    }

    private static let sequences = Query("SELECT name, seq FROM sqlite_sequence")
    private static let newest = Query("SELECT max(seq) FROM sqlite_sequence")
    private static let insertSequence = Query(
        "INSERT INTO sqlite_sequence SELECT ?1, 0 WHERE ?1 NOT IN (SELECT name FROM sqlite_sequence)")
    private static let raiseSequence = Query("UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1")
    private static let skipSequences = Query("UPDATE sqlite_sequence SET seq = seq + ?")
}
