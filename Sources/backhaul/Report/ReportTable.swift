/// Texts that many rows have. A row has the position of its text.
struct ReportWords {
    private(set) var all: [String] = []
    private var positions: [String: Int64] = [:]

    var count: Int { all.count }

    mutating func position(of text: String) -> Int64 {
        if let known = positions[text] { return known }
        let position = Int64(all.count)
        positions[text] = position
        all.append(text)
        return position
    }

    func knows(_ text: String) -> Bool { positions[text] != nil }
}

/// Rows that are stored and written as columns of numbers. JSON would repeat the name of each member in each row, and a
/// row with its texts would take more memory.
struct ReportTable<Row> {
    private let columns: [(name: String, value: (Row) -> Int64)]
    private var values: [[Int64]]
    private(set) var count = 0

    init(_ columns: [(name: String, value: (Row) -> Int64)]) {
        self.columns = columns
        values = columns.map { _ in [] }
    }

    mutating func append(_ row: Row) {
        for (index, column) in columns.enumerated() { values[index].append(column.value(row)) }
        count += 1
    }

    /// Writes the columns as members of a JSON object, without its braces. A column is an array of its values, or
    /// `{"runs": [value, count, …]}` or `{"steps": [difference, count, …]}` if this has fewer numbers. The first
    /// difference is the first value.
    /// - Parameter rows: The positions of the rows to write. Nil means all rows.
    func write(_ rows: [Int]? = nil, to result: inout String) {
        for (index, column) in columns.enumerated() {
            if index > 0 { result += "," }
            result += "\"" + column.name + "\":"
            let all = self.values[index]
            let values = rows.map { rows in rows.map { all[$0] } } ?? all
            let runs = ReportTable.runs(of: values)
            let steps = ReportTable.runs(of: zip(values, [0] + values).map { $0 &- $1 })
            if min(runs.count, steps.count) >= values.count {
                ReportTable.write(values, to: &result)
            } else {
                result += runs.count <= steps.count ? "{\"runs\":" : "{\"steps\":"
                ReportTable.write(runs.count <= steps.count ? runs : steps, to: &result)
                result += "}"
            }
        }
    }

    /// Each value that differs from the one before it, and how often it follows.
    private static func runs(of values: [Int64]) -> [Int64] {
        var result: [Int64] = []
        for value in values {
            if result.count >= 2, result[result.count - 2] == value {
                result[result.count - 1] += 1
            } else {
                result += [value, 1]
            }
        }
        return result
    }

    private static func write(_ values: [Int64], to result: inout String) {
        result += "["
        for (place, value) in values.enumerated() {
            if place > 0 { result += "," }
            result += String(value)
        }
        result += "]"
    }
}
