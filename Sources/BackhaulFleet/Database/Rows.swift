internal import BackhaulModel

/// The rows that a statement returned, copied out of libpq.
struct Rows: Sendable, RandomAccessCollection {
    struct Row: Sendable {
        fileprivate let cells: ArraySlice<[UInt8]?>

        private func cell(_ column: Int) -> [UInt8]? { cells[cells.startIndex + column] }

        func isNull(_ column: Int) -> Bool { cell(column) == nil }

        func text(_ column: Int) -> String { optionalText(column) ?? "" }

        func optionalText(_ column: Int) -> String? { cell(column).map { String(decoding: $0, as: UTF8.self) } }

        /// 0 if the cell is NULL.
        func integer(_ column: Int) -> Int64 { Int64(text(column)) ?? 0 }

        /// A number that is stored with the same bits, such as an inode, as PostgreSQL has no unsigned numbers.
        func unsigned(_ column: Int) -> UInt64 { UInt64(bitPattern: integer(column)) }

        func bool(_ column: Int) -> Bool { text(column) == "t" }

        func bytes(_ column: Int) throws(Failure) -> [UInt8] { try optionalBytes(column) ?? [] }

        /// The bytes of a `bytea` in the form `\x6261`. If the database has `bytea_output = escape`, in the form
        /// `ba\\\000`: the setting cannot be changed for a connection of a pool in transaction mode.
        func optionalBytes(_ column: Int) throws(Failure) -> [UInt8]? {
            guard let cell = cell(column) else { return nil }
            let bytes = cell.starts(with: "\\x".utf8) ? Self.hexadecimal(cell.dropFirst(2)) : Self.escaped(cell)
            guard let bytes else {
                throw Failure(.storeDamaged, "the database returned bytes in a form that this library does not know")
            }
            return bytes
        }

        private static func hexadecimal(_ text: ArraySlice<UInt8>) -> [UInt8]? {
            guard text.count.isMultiple(of: 2) else { return nil }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(text.count / 2)
            for index in stride(from: text.startIndex, to: text.endIndex, by: 2) {
                guard let high = text[index].hexadecimalValue, let low = text[index + 1].hexadecimalValue
                else { return nil }
                bytes.append(high << 4 | low)
            }
            return bytes
        }

        /// The form of a byte is the byte, two backslashes, or a backslash and three octal digits.
        private static func escaped(_ text: [UInt8]) -> [UInt8]? {
            let backslash = UInt8(ascii: "\\")
            var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], text[...])
            while let byte = rest.popFirst() {
                if byte != backslash {
                    bytes.append(byte)
                } else if rest.first == backslash {
                    bytes.append(rest.removeFirst())
                } else {
                    let digits = String(decoding: rest.prefix(3), as: UTF8.self)
                    guard let value = UInt8(digits, radix: 8) else { return nil }
                    bytes.append(value)
                    rest = rest.dropFirst(3)
                }
            }
            return bytes
        }
    }

    private let columns: Int
    private let cells: [[UInt8]?]
    /// How many rows the statement inserted, changed, deleted or returned.
    let affected: Int

    init(columns: Int, cells: [[UInt8]?], affected: Int) {
        self.columns = columns
        self.cells = cells
        self.affected = affected
    }

    var startIndex: Int { 0 }
    var endIndex: Int { columns == 0 ? 0 : cells.count / columns }
    subscript(row: Int) -> Row { Row(cells: cells[row * columns..<(row + 1) * columns]) }
}
