internal import BackhaulModel

/// The text of a statement. `Connection` finds the prepared statement by the identity of this object.
final class Query: Sendable {
    let text: String

    init(_ text: SQL) { self.text = text.text }

    /// Makes a SELECT of the columns that the function `read` reads from a row. `rest` begins with FROM.
    convenience init<Result>(_ read: (inout Row) throws(Failure) -> Result, _ rest: SQL) {
        self.init(columns: Row.columns(read), rest)
    }

    @inline(never)
    private init(columns: [String], _ rest: SQL) {
        text = "SELECT \(columns.joined(separator: ", ")) \(rest.text)"
    }

    /// Makes an INSERT of the columns that the function `write` sets. `verb` is "INSERT INTO" and the table's name.
    convenience init(_ verb: String, _ write: (inout NewRow) -> Void) {
        let names = NewRow.names(write)
        let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
        self.init("\(verb) (\(names.joined(separator: ", "))) VALUES (\(marks))")
    }
}

/// The text of a statement, as a literal. With a `String` instead of this type, Swift would inline the interpolation
/// into each of hundreds of statements. That would make the library larger.
struct SQL: ExpressibleByStringInterpolation {
    fileprivate let text: String

    init(stringLiteral text: String) { self.text = text }
    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        @inline(never)
        init(literalCapacity: Int, interpolationCount: Int) {}

        @inline(never)
        mutating func appendLiteral(_ literal: String) { text += literal }

        @inline(never)
        mutating func appendInterpolation(_ part: String) { text += part }

        mutating func appendInterpolation(_ number: Int) { appendInterpolation(String(number)) }
        mutating func appendInterpolation(_ number: Int64) { appendInterpolation(String(number)) }
    }
}
