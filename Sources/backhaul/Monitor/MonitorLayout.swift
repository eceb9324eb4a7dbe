import Backhaul

/// Makes the lines of the live screen.
struct MonitorLayout {
    let columns: Int
    let height: Int
    let blocks: Blocks
    let now: Int64

    /// The lines above the rows: the store, the counts, the rates, and the titles of the columns.
    private static let headLines = 4
    private static let graphRows = 2
    /// The width of the names of keys.
    private static let keyColumns = 12

    /// The number of rows for which the screen has room.
    var room: Int { max(1, height - MonitorLayout.headLines - 1) }

    func lines(_ snapshot: MonitorSnapshot, _ view: MonitorView, details: [String]) -> [ScreenLine] {
        var lines = head(snapshot, view)
        switch view.mode {
        // Without the counts, the keys have room on a terminal with 24 lines.
        case .help: lines = lines.prefix(1) + body(helpLines)
        case .details(_, let top): lines += body(details.dropFirst(top).map { ScreenLine($0) })
        case .list, .prompt, .confirmation:
            let table = RowLayout(
                columns: columns, blocks: blocks, sessions: snapshot.sessions, lastNumber: snapshot.lastNumber)
            lines.append(table.titles)
            lines += view.shown.enumerated().map { offset, row in
                let isSelected = view.top + offset == view.cursor
                return table.line(row, isSelected: isSelected, isMarked: view.marked.contains(row.key), now: now)
            }
            if view.rows.isEmpty {
                lines += TransferDetails.broken(emptyText(snapshot, view), columns: columns).map { ScreenLine($0) }
            }
        }
        lines = Array(lines.prefix(height - 1))
        lines += [ScreenLine](repeating: ScreenLine(), count: max(0, height - 1 - lines.count))
        lines.append(foot(view))
        return lines.map { $0.cut(to: columns) }
    }

    private func body(_ content: [ScreenLine]) -> [ScreenLine] {
        var rule = ScreenLine()
        rule.pad(to: columns, .bar)
        return [rule] + content
    }

    // MARK: Head

    private func head(_ snapshot: MonitorSnapshot, _ view: MonitorView) -> [ScreenLine] {
        var first = ScreenLine("backhaul watch  ", .bold)
        let engine = snapshot.problem == nil ? snapshot.engine : "no reply from the engine"
        first.add(ScreenText.cell(snapshot.store, columns: max(0, columns - first.width - Text.width(engine) - 2)))
        first.add("  ")
        first.add(engine, snapshot.problem == nil ? .plain : .bad)
        let graph = graph(snapshot.history)
        var lines = [first, counts(snapshot), rates(snapshot, view)]
        for (index, text) in graph.enumerated() {
            let line = lines[index + 1].cut(to: columns - Text.width(text) - 1)
            lines[index + 1] = line
            lines[index + 1].pad(to: columns - Text.width(text))
            lines[index + 1].add(text, .graph)
        }
        return lines
    }

    /// The lines of the graph of the last minutes. A wider terminal has a wider graph.
    private func graph(_ history: RateHistory) -> [String] {
        let width = columns >= 120 ? 60 : columns >= 70 ? 20 : 0
        if width == 0 { return [] }
        let averages = history.averages(columns: width)
        let lines = blocks.graph(averages, rows: MonitorLayout.graphRows)
        if columns < 120 { return lines }
        let labels = ["highest \(Text.size(averages.max() ?? 0))/s ", "last 5 min "]
        return zip(labels, lines).map { Text.padded(left: $0, columns: 22) + $1 }
    }

    private func counts(_ snapshot: MonitorSnapshot) -> ScreenLine {
        let totals = snapshot.totals
        let parts: [(Int, String, TextStyle)] = [
            (totals.running, "running", .good), (totals.waiting, "waiting", .plain),
            (totals.suspended, "suspended", .plain), (totals.failed, "failed", .bad),
            (totals.cancelled, "cancelled", .plain), (totals.succeeded, "done", .plain),
            (snapshot.omitted, "not listed", .plain),
        ]
        var line = ScreenLine()
        if !snapshot.isRead { return line }
        for (count, word, style) in parts where count > 0 || ["running", "waiting", "failed"].contains(word) {
            if line.width > 0 { line.add("  ") }
            line.add("\(count) \(word)", count > 0 ? style : .plain)
        }
        return line
    }

    private func rates(_ snapshot: MonitorSnapshot, _ view: MonitorView) -> ScreenLine {
        let totals = snapshot.totals
        if !snapshot.isRead { return ScreenLine() }
        var line = ScreenLine(Text.size(totals.bytesPerSecond) + "/s", .bold)
        if totals.bytesLeft > 0 {
            line.add("  \(Text.size(totals.bytesLeft)) left")
        }
        if let seconds = totals.secondsLeft { line.add(" in " + Text.approximate(seconds: seconds)) }
        if totals.unknownSizes > 0 { line.add("  \(Text.count(totals.unknownSizes, "size")) unknown") }
        if !view.filter.isEmpty { line.add("  filter: \(view.filter.text)", .wait) }
        return line
    }

    private func emptyText(_ snapshot: MonitorSnapshot, _ view: MonitorView) -> String {
        if let problem = snapshot.problem { return problem }
        if !snapshot.isRead { return "Reading the store." }
        if let absence = snapshot.absence { return absence }
        return view.filter.isEmpty || snapshot.rows.isEmpty
            ? "There is no transfer." : "No transfer has these words."
    }

    // MARK: Foot

    private func foot(_ view: MonitorView) -> ScreenLine {
        switch view.mode {
        case .prompt(let prompt, let text):
            var line = ScreenLine(prompt.question, .bold)
            // If the text is too long, its end is shown.
            line.add(ScreenText.end(ScreenText.drawable(text), columns: columns - line.width - 1))
            line.add(" ", .bar)
            return line
        case .confirmation(let keys):
            let what = keys.count == 1 ? "transfer \(keys.map { "\($0.id)" }.joined())" : "\(keys.count) transfers"
            return ScreenLine("Cancel \(what) and remove the received bytes? y/n", .bad)
        case .help: return ScreenLine("any key: back to the list", .bold)
        case .details: return ScreenLine("q back   Up Down scroll   s suspend   r resume   t retry", .bold)
        case .list: return view.message.map { ScreenLine($0, .bold) } ?? keys
        }
    }

    private var keys: ScreenLine {
        var line = ScreenLine("? keys")
        for key in MonitorKey.all.reversed() where key.command == .quit { add(key, to: &line) }
        for key in MonitorKey.all where key.short != nil && key.command != .quit { add(key, to: &line) }
        return line
    }

    private func add(_ key: MonitorKey, to line: inout ScreenLine) {
        guard let short = key.short, line.width + 2 + key.name.count + 1 + short.count <= columns else { return }
        line.add("  ")
        line.add(key.name, .bold)
        line.add(" " + short)
    }

    private var helpLines: [ScreenLine] {
        MonitorKey.all.flatMap { key in
            let help = TransferDetails.broken(key.help, columns: max(20, columns - MonitorLayout.keyColumns))
            return help.enumerated().map { index, text in
                let name = " " + (index == 0 ? key.name : "")
                var line = ScreenLine(Text.padded(name, columns: MonitorLayout.keyColumns), .bold)
                line.add(text)
                return line
            }
        }
    }
}
