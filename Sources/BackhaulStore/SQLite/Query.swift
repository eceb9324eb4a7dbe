internal import BackhaulModel

/// The text of a statement. `Connection` finds the prepared statement by the identity of this object.
final class Query: Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    /// Makes a SELECT of the columns that the function `read` reads from a row. `rest` begins with FROM.
    convenience init<Result>(_ read: (inout Row) throws(Failure) -> Result, _ rest: String) {
        self.init("SELECT \(Row.columns(read).joined(separator: ", ")) \(rest)")
    }

    /// Makes an INSERT of the columns that the function `write` sets. `verb` is "INSERT INTO" and the table's name.
    convenience init(_ verb: String, _ write: (inout NewRow) -> Void) {
        let names = NewRow.names(write)
        let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
        self.init("\(verb) (\(names.joined(separator: ", "))) VALUES (\(marks))")
    }
}
