import Backhaul

/// The columns of the list, for the width of the terminal.
struct RowLayout {
    private let columns: Int
    private let blocks: Blocks
    private let number: Int
    /// The width of the column with the application. 0 if there is one application, and on a narrow terminal.
    private let application: Int
    /// The width of the column with the session. 0 if all sessions have the same name.
    private let session: Int
    private let name: Int
    private let bar: Int
    /// The width of the column with the size. 0 on a narrow terminal.
    private let size: Int
    private let percent = 5
    /// The width of the column with the rate. 0 on a very narrow terminal.
    private let rate: Int

    init(columns: Int, blocks: Blocks, sessions: [SessionKey], lastNumber: UInt64) {
        self.columns = columns
        self.blocks = blocks
        number = max(3, "\(lastNumber)".count)
        let widest = columns >= 120 ? 24 : 11
        application = columns < 70 ? 0 : RowLayout.width(sessions.map(\.application), title: 11, widest: widest)
        session = RowLayout.width(sessions.map(\.name), title: 7, widest: columns >= 120 ? 24 : 10)
        bar = columns >= 120 ? 20 : columns >= 60 ? 8 : 0
        size = columns >= 100 ? 10 : 0
        rate = columns >= 50 ? 11 : 0
        let fixed = 1 + number + 1 + application + session + bar + percent + size + rate + 1
        name = max(6, (columns - fixed) * 5 / 10)
    }

    /// The width of a column with names that identify the rows. 0 if all names are equal.
    private static func width(_ names: [String], title: Int, widest: Int) -> Int {
        let different = Set(names)
        let longest = different.map { Text.width(ScreenText.drawable($0)) }.max() ?? 0
        return different.count < 2 ? 0 : max(title, min(longest, widest)) + 1
    }

    var titles: ScreenLine {
        var line = ScreenLine(" " + Text.padded(left: "NO.", columns: number) + " ", .bar)
        if application > 0 { line.add(ScreenText.cell("APPLICATION", columns: application), .bar) }
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
        if application > 0 {
            line.add(ScreenText.cell(row.key.session.application, columns: application - 1) + " ", plain)
        }
        if session > 0 { line.add(ScreenText.cell(row.key.session.name, columns: session - 1) + " ", plain) }
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
