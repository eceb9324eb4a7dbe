import Backhaul

/// The order of the rows.
enum RowOrder: CaseIterable {
    case state, number, name, left, rate

    var word: String {
        switch self {
        case .state: "state"
        case .number: "number"
        case .name: "name"
        case .left: "bytes left"
        case .rate: "rate"
        }
    }

    var next: RowOrder {
        let all = RowOrder.allCases
        return all[(all.firstIndex(of: self).map { $0 + 1 } ?? 0) % all.count]
    }

    /// Sorts rows, which are sorted by session and number. Rows that are equal in this order keep their places.
    func sorted(_ rows: [TransferRow]) -> [TransferRow] {
        switch self {
        case .number: return rows
        case .state: return sorted(rows) { UInt64($0.rank) }
        case .left: return sorted(rows) { UInt64.max - ($0.left ?? 0) }
        case .rate: return sorted(rows) { UInt64.max - $0.task.bytesPerSecond }
        case .name:
            return rows.indices.sorted { (rows[$0].name, $0) < (rows[$1].name, $1) }.map { rows[$0] }
        }
    }

    private func sorted(_ rows: [TransferRow], by value: (TransferRow) -> UInt64) -> [TransferRow] {
        let places = rows.indices.map { (value(rows[$0]), $0) }
        return places.sorted { $0 < $1 }.map { rows[$0.1] }
    }
}

/// The words by which rows are selected. A row must have all of them in its application, session, name, URL, state,
/// reason or group.
struct RowFilter: Equatable {
    private let words: [[UInt8]]
    let text: String

    init(_ text: String = "") {
        self.text = text
        words = text.split(separator: " ").map { Array($0.utf8).map(RowFilter.lowercased) }
    }

    var isEmpty: Bool { words.isEmpty }

    func matches(_ row: TransferRow) -> Bool {
        words.allSatisfy { word in
            RowFilter.contains(row.name, word) || RowFilter.contains(row.key.session.name, word)
                || RowFilter.contains(row.key.session.application, word)
                || RowFilter.contains(row.task.url, word) || RowFilter.contains(row.task.state.word, word)
                || row.task.reason.map { RowFilter.contains($0.code.word, word) } == true
                || row.task.group.map { RowFilter.contains($0, word) } == true
        }
    }

    /// Whether the text has the word. Capital and small ASCII letters are equal.
    private static func contains(_ text: String, _ word: [UInt8]) -> Bool {
        let bytes = text.utf8
        guard let first = word.first, bytes.count >= word.count else { return false }
        return bytes.indices.contains { start in
            lowercased(bytes[start]) == first
                && zip(bytes[start...].prefix(word.count).map(lowercased), word).allSatisfy { $0 == $1 }
                && bytes.distance(from: start, to: bytes.endIndex) >= word.count
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }
}
