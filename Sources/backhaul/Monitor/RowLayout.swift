import Backhaul

/// The columns of the list, for the width of the terminal.
struct RowLayout {
    private let columns: Int
    private let blocks: Blocks
    private let number: Int
    /// The width of the column with the session. 0 if there is one session.
    private let session: Int
    private let name: Int
    private let bar: Int
    /// The width of the column with the size. 0 on a narrow terminal.
    private let size: Int
    private let percent = 5
    /// The width of the column with the rate. 0 on a very narrow terminal.
    private let rate: Int

    init(columns: Int, blocks: Blocks, sessions: [String], lastNumber: UInt64) {
        self.columns = columns
        self.blocks = blocks
        number = max(3, "\(lastNumber)".count)
        let longest = sessions.map { Text.width(ScreenText.drawable($0)) }.max() ?? 0
        session = sessions.count < 2 ? 0 : max(7, min(longest, columns >= 120 ? 24 : 10)) + 1
        bar = columns >= 120 ? 20 : columns >= 60 ? 8 : 0
        size = columns >= 100 ? 10 : 0
        rate = columns >= 50 ? 11 : 0
        let fixed = 1 + number + 1 + session + bar + percent + size + rate + 1
        name = max(6, (columns - fixed) * 5 / 10)
    }

    var titles: ScreenLine {
        var line = ScreenLine(" " + Text.padded(left: "NO.", columns: number) + " ", .bar)
        if session > 0 { line.add(ScreenText.cell("SESSION", columns: session), .bar) }
        line.add(ScreenText.cell("NAME", columns: name + 1), .bar)
        line.add(Text.padded("DONE", columns: bar + percent), .bar)
        if size > 0 { line.add(Text.padded(left: "SIZE", columns: size), .bar) }
        line.add(ScreenText.cell(left: "RATE", columns: rate) + "  STATE", .bar)
        line.pad(to: columns, .bar)
        return line
    }

    func line(_ row: TransferRow, isSelected: Bool, isMarked: Bool, now: Int64) -> ScreenLine {
        let plain = isSelected ? TextStyle.bar : .plain
        let bold = TextStyle(isBold: true, isReversed: isSelected)
        var line = ScreenLine(isMarked ? "*" : " ", bold)
        line.add(Text.padded(left: "\(row.key.id)", columns: number) + " ", plain)
        if session > 0 { line.add(ScreenText.cell(row.key.session, columns: session - 1) + " ", plain) }
        line.add(ScreenText.cell(row.name, columns: name) + " ", isMarked ? bold : plain)
        // The state of a transfer of which no byte was moved also takes the columns of the progress, and the state of
        // one that does not move takes the column of the rate.
        if row.isMoving || row.task.done > 0 || row.task.state == .succeeded {
            if let share = row.share {
                // The bar of the selected row keeps its colors, because a bar in reverse shows the opposite.
                line.add(blocks.bar(share, columns: bar), row.style)
                line.add(Text.padded(left: "\(Int(share * 100))%", columns: percent), plain)
            } else {
                line.add(ScreenText.cell(left: Text.size(row.task.done), columns: bar + percent), plain)
            }
            if size > 0 {
                line.add(Text.padded(left: row.task.total.map { Text.size($0) } ?? "", columns: size), plain)
            }
            if row.isMoving {
                let text = row.task.bytesPerSecond > 0 ? Text.size(row.task.bytesPerSecond) + "/s" : ""
                line.add(ScreenText.cell(left: text, columns: rate), plain)
            }
            line.add("  ", plain)
        }
        let room = max(0, columns - line.width)
        line.add(ScreenText.cell(start: row.stateText(now: now), columns: room), isSelected ? plain : row.style)
        return line
    }
}
