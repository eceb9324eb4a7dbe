internal import BackhaulModel

/// The text of a statement. Its identity is the key under which the prepared statement is kept.
final class Query: Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    /// Selects the columns that the function reads. `rest` begins with FROM.
    convenience init<Result>(_ read: (inout Row) throws(Failure) -> Result, _ rest: String) {
        self.init("SELECT \(Row.columns(read).joined(separator: ", ")) \(rest)")
    }

    /// Inserts a row of the columns that the function sets. `verb`: "INSERT INTO" and the table.
    convenience init(_ verb: String, _ write: (inout NewRow) -> Void) {
        let names = NewRow.names(write)
        let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
        self.init("\(verb) (\(names.joined(separator: ", "))) VALUES (\(marks))")
    }
}
