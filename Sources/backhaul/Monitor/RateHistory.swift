/// The bytes per second of the last minutes, one reading for each second.
struct RateHistory {
    /// The seconds that the graph shows.
    static let span = 300

    private var readings = [UInt64](repeating: 0, count: RateHistory.span)
    /// The number of the second of the newest reading, on the monotonic clock. Nil before the first reading.
    private var newest: Int64?

    /// Adds a reading. Seconds without a reading have the rate of the reading that follows them.
    mutating func add(_ bytesPerSecond: UInt64, milliseconds: Int64) {
        let second = milliseconds / 1000
        let first = max((newest ?? second - 1) + 1, second - Int64(RateHistory.span) + 1)
        for number in min(first, second)...second { readings[RateHistory.slot(number)] = bytesPerSecond }
        newest = max(second, newest ?? second)
    }

    /// The averages of `columns` equal periods, oldest first. A period begins at a multiple of its length, so only the
    /// newest average changes with each reading.
    func averages(columns: Int) -> [UInt64] {
        guard let newest, columns > 0 else { return [UInt64](repeating: 0, count: max(0, columns)) }
        let length = Int64(max(1, (RateHistory.span + columns - 1) / columns))
        let last = newest / length
        return (0..<Int64(columns)).map { column in
            let period = last - Int64(columns) + 1 + column
            let seconds = (period * length)..<((period + 1) * length)
            let known = seconds.filter { $0 <= newest && $0 > newest - Int64(RateHistory.span) && $0 >= 0 }
            if known.isEmpty { return 0 }
            let sum = known.reduce(UInt64(0)) {
                $0.addingReportingOverflow(readings[RateHistory.slot($1)]).partialValue
            }
            return sum / UInt64(known.count)
        }
    }

    private static func slot(_ second: Int64) -> Int { Int(second % Int64(span)) }
}

/// Characters for bars and graphs.
struct Blocks {
    /// The steps of one cell of a graph, lowest first.
    let heights: [Character]
    /// The steps of one cell of a bar, narrowest first.
    let widths: [Character]
    let empty: Character

    /// Block characters, for terminals with UTF-8.
    static let unicode = Blocks(heights: Array("▁▂▃▄▅▆▇█"), widths: Array("▏▎▍▌▋▊▉█"), empty: "·")
    static let ascii = Blocks(heights: Array(".:-=+*%#"), widths: ["#"], empty: ".")

    /// The lines of a graph, from the top, whose highest value is as high as the graph.
    func graph(_ values: [UInt64], rows: Int) -> [String] {
        let steps = heights.count * rows
        let highest = max(1, values.max() ?? 1)
        let levels = values.map { value in
            value == 0 ? 0 : max(1, Int((Double(value) / Double(highest) * Double(steps)).rounded()))
        }
        return (0..<rows).map { row in
            let below = (rows - 1 - row) * heights.count
            return String(
                levels.map { level in
                    let height = min(level - below, heights.count)
                    return height > 0 ? heights[height - 1] : " "
                })
        }
    }

    /// A bar for a share from 0 to 1.
    func bar(_ share: Double, columns: Int) -> String {
        let steps = Int(max(0, min(1, share)) * Double(columns * widths.count))
        let full = steps / widths.count
        var bar = String(repeating: widths[widths.count - 1], count: full)
        if steps % widths.count > 0 { bar.append(widths[steps % widths.count - 1]) }
        return bar + String(repeating: empty, count: max(0, columns - bar.count))
    }
}
