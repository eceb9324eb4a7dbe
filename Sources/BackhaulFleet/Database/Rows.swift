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

        func bytes(_ column: Int) -> [UInt8] { optionalBytes(column) ?? [] }

        /// The bytes of a `bytea` in the form `\x6261`.
        func optionalBytes(_ column: Int) -> [UInt8]? {
            guard let cell = cell(column) else { return nil }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(cell.count / 2)
            for index in stride(from: 2, to: cell.count - 1, by: 2) {
                bytes.append(Self.digit(cell[index]) << 4 | Self.digit(cell[index + 1]))
            }
            return bytes
        }

        private static func digit(_ byte: UInt8) -> UInt8 {
            byte <= UInt8(ascii: "9") ? byte - UInt8(ascii: "0") : (byte | 0x20) - UInt8(ascii: "a") + 10
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
