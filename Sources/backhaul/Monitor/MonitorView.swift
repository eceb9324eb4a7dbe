import Backhaul

/// What the user has chosen on the live screen: the row, the order, the filter, and what covers the list.
struct MonitorView {
    /// What the screen shows in place of the list, or asks below it.
    enum Mode: Equatable {
        case list
        case help
        /// The details of a transfer, from this line on.
        case details(RowKey, top: Int)
        /// A question whose answer is a text.
        case prompt(Prompt, text: String)
        /// The question whether to cancel these transfers.
        case confirmation([RowKey])
    }

    enum Prompt: Equatable {
        case filter
        case priority([RowKey])
        case rate([RowKey])

        var question: String {
            switch self {
            case .filter: "Show rows with these words: "
            case .priority: "Priority (-100 to 100, or now): "
            case .rate: "Bytes per second (such as 500k or 2M; 0: no limit): "
            }
        }
    }

    /// What the program does after a key.
    enum Effect: Equatable {
        case none
        case quit
        case act(MonitorAction, [RowKey])
    }

    /// More lines than the details of a transfer have.
    private static let mostDetailLines = 1_000_000

    private(set) var mode = Mode.list
    private(set) var order = RowOrder.state
    private(set) var filter = RowFilter()
    private(set) var marked: Set<RowKey> = []
    /// The rows of the filter, in their order.
    private(set) var rows: [TransferRow] = []
    private var all: [TransferRow] = []
    /// The index of the selected row.
    private(set) var cursor = 0
    /// The index of the first row on the screen.
    private(set) var top = 0
    /// The number of rows for which the screen has room.
    private var room = 1
    /// A sentence for the last line, until the next key.
    var message: String?

    var selected: TransferRow? { rows.indices.contains(cursor) ? rows[cursor] : nil }
    var shown: ArraySlice<TransferRow> { rows[top..<min(top + room, rows.count)] }

    /// Takes over new rows. The selected transfer stays selected while its state is the same. Otherwise the selection
    /// stays at its place, so that it does not follow an ended transfer to the end of the list.
    mutating func update(_ new: [TransferRow], room: Int) {
        all = new
        self.room = max(1, room)
        arrange()
    }

    private mutating func arrange() {
        let former = selected
        rows = order.sorted(filter.isEmpty ? all : all.filter(filter.matches))
        if cursor > 0, let former,
            let place = rows.firstIndex(where: { $0.key == former.key }), rows[place].rank == former.rank
        {
            // The row stays at its place on the screen.
            top += place - cursor
            cursor = place
        }
        if !marked.isEmpty { marked.formIntersection(all.map(\.key)) }
        scroll()
    }

    private mutating func scroll() {
        cursor = max(0, min(cursor, rows.count - 1))
        top = max(0, min(top, rows.count - room))
        if cursor < top { top = cursor }
        if cursor >= top + room { top = cursor - room + 1 }
    }

    mutating func press(_ key: TerminalKey) -> Effect {
        message = nil
        switch mode {
        case .list: return pressInList(key)
        case .help:
            mode = .list
            return .none
        case .details(let transfer, let line): return pressInDetails(key, transfer, line)
        case .prompt(let prompt, let text): return pressInPrompt(key, prompt, text)
        case .confirmation(let keys):
            mode = .list
            if key == .character("y") || key == .character("Y") { return done(.cancel, keys) }
            message = "nothing is cancelled"
            return .none
        }
    }

    /// The marked transfers, or the selected one.
    private var chosen: [RowKey] {
        marked.isEmpty ? selected.map { [$0.key] } ?? [] : rows.map(\.key).filter(marked.contains)
    }

    private mutating func pressInList(_ key: TerminalKey) -> Effect {
        if key == .escape {
            marked = []
            return .none
        }
        guard let command = MonitorKey.command(of: key) else { return .none }
        switch command {
        case .move(let movement): move(movement)
        case .help: mode = .help
        case .quit: return .quit
        case .order:
            order = order.next
            arrange()
            message = "order: \(order.word)"
        case .filter: mode = .prompt(.filter, text: filter.text)
        default: return pressOnTransfer(command)
        }
        return .none
    }

    /// Performs a command on the chosen transfers.
    private mutating func pressOnTransfer(_ command: MonitorCommand) -> Effect {
        guard let selected else {
            message = "there is no transfer"
            return .none
        }
        switch command {
        case .details: mode = .details(selected.key, top: 0)
        case .mark:
            if marked.remove(selected.key) == nil { marked.insert(selected.key) }
            move(.lines(1))
        case .suspend: return done(.suspend, chosen)
        case .resume: return done(.resume, chosen)
        case .retry: return done(.retry, chosen)
        case .priority: mode = .prompt(.priority(chosen), text: "")
        case .rate: mode = .prompt(.rate(chosen), text: "")
        case .cancel: mode = .confirmation(chosen)
        default: break
        }
        return .none
    }

    private mutating func done(_ action: MonitorAction, _ keys: [RowKey]) -> Effect {
        marked = []
        return .act(action, keys)
    }

    private mutating func move(_ movement: MonitorCommand.Movement) {
        switch movement {
        case .lines(let count): cursor += count
        case .pages(let count):
            cursor += count * room
            top += count * room
        case .start: cursor = 0
        case .end: cursor = rows.count - 1
        }
        scroll()
    }

    private mutating func pressInDetails(_ key: TerminalKey, _ transfer: RowKey, _ line: Int) -> Effect {
        switch MonitorKey.command(of: key) {
        case .move(.lines(let count)): mode = .details(transfer, top: max(0, line + count))
        case .move(.pages(let count)): mode = .details(transfer, top: max(0, line + count * room))
        case .move(.start): mode = .details(transfer, top: 0)
        case .move(.end): mode = .details(transfer, top: MonitorView.mostDetailLines)
        case .suspend: return .act(.suspend, [transfer])
        case .resume: return .act(.resume, [transfer])
        case .retry: return .act(.retry, [transfer])
        case .quit, .details: mode = .list
        default: if key == .escape || key == .backspace { mode = .list }
        }
        return .none
    }

    /// Limits the first line of the details to the last one that fills the screen.
    mutating func limitDetails(lines: Int) {
        if case .details(let key, let line) = mode { mode = .details(key, top: max(0, min(line, lines - room))) }
    }

    private mutating func pressInPrompt(_ key: TerminalKey, _ prompt: Prompt, _ text: String) -> Effect {
        switch key {
        case .character(let character): mode = .prompt(prompt, text: text + String(character))
        case .backspace: mode = .prompt(prompt, text: String(text.dropLast()))
        case .eraseLine: mode = .prompt(prompt, text: "")
        case .eraseWord: mode = .prompt(prompt, text: MonitorView.withoutLastWord(text))
        case .escape: mode = .list
        case .enter:
            mode = .list
            return answer(prompt, text)
        default: break
        }
        return .none
    }

    private static func withoutLastWord(_ text: String) -> String {
        String(text.reversed().drop { $0 == " " }.drop { $0 != " " }.reversed())
    }

    private mutating func answer(_ prompt: Prompt, _ text: String) -> Effect {
        switch prompt {
        case .filter:
            filter = RowFilter(text)
            cursor = 0
            top = 0
            arrange()
        case .priority(let keys):
            let number = text == "now" ? Request.priorityNow : Int32(text)
            if let number, text == "now" || (-100...100).contains(number) { return done(.priority(number), keys) }
            message = "'\(text)' is no priority; give a number from -100 to 100, or now"
        case .rate(let keys):
            if let rate = Arguments.bytes(text) { return done(.rate(rate), keys) }
            message = "'\(text)' is no rate; give bytes per second, such as 500k, 2M or 0"
        }
        return .none
    }
}
