internal import BackhaulModel

// Reads and writes options. Each option is a column. A column may have a content that this version of the library does
// not know. An optional field with such a column becomes nil. Any other field keeps the value that it had before the
// read.

extension Row: FieldVisitor {
    typealias Problem = Failure

    mutating func visit<Value>(_ value: inout Value, _ option: Option<Value>) throws(Failure) {
        value = read(option) ?? value
    }

    mutating func visit<Value>(_ value: inout Value?, _ option: Option<Value>) throws(Failure) { value = read(option) }

    mutating func visit(_ headers: inout [HeaderField], _ name: String) throws(Failure) {
        headers = try HeaderBlob.unpack(optionalBlob(name))
    }

    private mutating func read<Value: FieldValue>(_ option: Option<Value>) -> Value? {
        let column = isListing ? option.column : ""
        if Value.kind == .text { return optionalText(column).flatMap { Value(.text($0)) } }
        return optionalBits(column).flatMap { Value(.integer($0)) }
    }
}

extension NewRow: FieldVisitor {
    typealias Problem = Never

    mutating func visit<Field>(_ value: inout Field, _ option: Option<Field>) {
        set(option.column, as: Field.kind.sql, NewRow.stored(value))
    }

    mutating func visit<Field>(_ value: inout Field?, _ option: Option<Field>) {
        set(option.column, as: Field.kind.sql, isNull: true, value.map(NewRow.stored) ?? .null)
    }

    mutating func visit(_ headers: inout [HeaderField], _ name: String) {
        set(name, as: "BLOB", isNull: true, .optional(HeaderBlob.pack(headers)))
    }

    private static func stored<Field: FieldValue>(_ value: Field) -> Value {
        switch value.content {
        case .integer(let bits): .bits(bits)
        case .text(let text): .text(text)
        }
    }
}

extension FieldKind {
    fileprivate var sql: String { self == .text ? "TEXT" : "INTEGER" }
}

extension Option {
    var column: String { name == "group" ? "\"group\"" : name.split(separator: ".").joined(separator: "_") }
}
