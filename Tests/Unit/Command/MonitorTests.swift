import Backhaul
import CBackhaul
import Foundation
import Testing

@testable import Backhaul
@testable import backhaul

/// A transfer on the live screen.
func row(
    _ id: UInt64, _ state: TaskState = .running, _ reason: Reason? = nil, session: String = "photos",
    application: String = "org.example", name: String = "large.iso", text: String? = nil, next: Int64 = 0,
    error: String? = nil, done: UInt64 = 0,
    total: UInt64? = nil, rate: UInt64 = 0
) -> TransferRow {
    let arena = Arena()
    var task = bh_task_info()
    task.id = id
    task.kind = TaskKind.download.rawValue
    task.state = state.rawValue
    task.reason = reason?.rawValue ?? 0
    task.reason_text = (try? arena.optionalString(text, "")) ?? nil
    task.next_attempt_ms = next
    task.url = try? arena.string("https://example.org/\(id)", "")
    task.destination = try? arena.string("/home/ann/" + name, "")
    task.status = error == nil ? 0 : Status.httpStatus.rawValue
    task.error_message = (try? arena.optionalString(error, "")) ?? nil
    task.offset = done
    task.size = total ?? UInt64.max
    task.bytes_per_second = rate
    return withExtendedLifetime(arena) {
        TransferRow(TaskInfo(task), session: SessionKey(application: application, name: session))
    }
}

private func key(_ id: UInt64) -> RowKey {
    RowKey(session: SessionKey(application: "org.example", name: "photos"), id: TaskID(rawValue: id))
}

private func snapshot(_ rows: [TransferRow]) -> MonitorSnapshot {
    var snapshot = MonitorSnapshot()
    snapshot.store = "/var/lib/ann/store"
    snapshot.engine = "daemon 1234"
    snapshot.rows = rows
    snapshot.sessions = Set(rows.map(\.key.session)).sorted()
    snapshot.lastNumber = rows.map(\.key.id.rawValue).max() ?? 0
    for row in rows { snapshot.totals.add(row) }
    return snapshot
}

private func screen(
    _ rows: [TransferRow], keys: [TerminalKey] = [], columns: Int = 80, height: Int = 12, blocks: Blocks = .unicode
) -> [String] {
    let layout = MonitorLayout(columns: columns, height: height, blocks: blocks, now: evening)
    var view = MonitorView()
    view.update(rows, room: layout.room)
    for key in keys { _ = view.press(key) }
    view.update(rows, room: layout.room)
    return layout.lines(snapshot(rows), view, details: []).map(\.text)
}

private let mixed = [
    row(1, .succeeded, done: 10, total: 10), row(2, .waiting, .slot, text: "other transfers run before it"),
    row(3, .failed, error: "the server responded with status 404"),
    row(4, .waiting, .retry, next: evening + 40_000, error: "the server responded with status 503"),
    row(5, .running, done: 5_000_000, total: 10_000_000, rate: 1_000_000),
]

/// The live screen of `backhaul watch`: its rows, keys and lines, without a terminal.
@Suite("The live screen")
struct MonitorTests {
    init() { setlocale(LC_CTYPE, "C.UTF-8") }

    // MARK: Lines

    @Test("the head counts transfers, and the rows come in the order: running, faulty, failed, waiting, done")
    func rows() {
        let lines = screen(mixed)
        #expect(lines[0].hasPrefix("backhaul watch  /var/lib/ann/store"))
        #expect(lines[0].hasSuffix("daemon 1234"))
        #expect(lines[1].hasPrefix("1 running  2 waiting  1 failed  1 done"))
        #expect(lines[2].hasPrefix("1.0 MB/s  5.0 MB left  2 sizes unknown"))
        #expect(lines[3].hasPrefix(" NO. NAME"))
        #expect(lines[4...8].map { $0.split(separator: " ").first } == ["5", "4", "3", "2", "1"])
        #expect(lines[4].contains("████····  50%   1.0 MB/s  5 s left"))
        #expect(lines[5].contains("retry in 40 s: the server responded with statu..."))
        #expect(lines[6].contains("failed: the server responded with status 404"))
        #expect(lines.last?.hasPrefix("? keys  q quit") == true)
    }

    @Test("transfers of several applications have a column with the application, if the terminal has room for it")
    func applications() {
        let rows = mixed + [row(6, .suspended, session: "photos", application: "org.example.mail", name: "a.pdf")]
        let wide = screen(rows, columns: 120)
        #expect(wide[3].hasPrefix(" NO. APPLICATION      NAME"))
        #expect(wide.contains { $0.hasPrefix("   6 org.example.mail a.pdf") })
        #expect(screen(rows, columns: 80)[3].hasPrefix(" NO. APPLICATION NAME"))
        #expect(screen(rows, columns: 69)[3].hasPrefix(" NO. NAME"))
        #expect(screen(rows, keys: [.character("/")] + "mail".map { .character($0) } + [.enter])[4].contains("a.pdf"))
    }

    @Test("no line is wider than the terminal", arguments: [20, 40, 59, 60, 80, 119, 120, 160, 240])
    func width(columns: Int) {
        let hostile = row(
            6, session: "文件-é-\u{1F600}", application: "org.example.other",
            name: "\u{1b}[2J文件文件文件文件文件e\u{301}e\u{301}\u{202e}\u{1F468}\u{FE0F}")
        for keys in [[], [.character("?")], [.character("/"), .character("文")], [.character("c")]] as [[TerminalKey]] {
            for line in screen(mixed + [hostile], keys: keys, columns: columns) {
                #expect(Text.width(line) <= columns, "\(line)")
                #expect(line.unicodeScalars.allSatisfy(Text.isPrintable))
            }
        }
    }

    @Test("the columns of names with wide and combining characters are aligned")
    func alignment() {
        let names = ["plain", "文件文件文件", "e\u{301}te\u{301}", String(repeating: "文", count: 50)]
        let lines = screen(names.indices.map { row(UInt64($0) + 1, name: names[$0], done: 5, total: 10) })
        let places = lines[4...7].map { line in Text.width(String(line.prefix { $0 != "█" })) }
        #expect(Set(places).count == 1)
    }

    @Test("without UTF-8, bars and graphs are ASCII")
    func ascii() {
        let lines = screen(mixed, blocks: .ascii)
        #expect(lines[4].contains("####....  50%"))
        #expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
    }

    @Test("a wait that ends tomorrow shows the time, and a condition shows its sentence")
    func waits() {
        let budget = row(1, .waiting, .budget, text: "the daily limit is used up", next: evening + 12 * hour)
        #expect(budget.stateText(now: evening) == "budget until tomorrow 09:10: the daily limit is used up")
        let power = row(2, .waiting, .power, text: "the machine runs on battery")
        #expect(power.stateText(now: evening) == "power: the machine runs on battery")
        let limited = row(3, .running, .rate, text: "limited", done: 10, total: 1010, rate: 100)
        #expect(limited.stateText(now: evening) == "10 s left, limited")
    }

    @Test("the end of the transfers is estimated only if all sizes are known")
    func estimate() {
        var totals = MonitorTotals()
        totals.add(row(1, done: 0, total: 60_000, rate: 1000))
        #expect(totals.secondsLeft == 60)
        totals.add(row(2, .waiting, .slot))
        #expect(totals.secondsLeft == nil)
        #expect(totals.unknownSizes == 1)
    }

    @Test("the lines of the details are broken between words, and long words within them")
    func details() {
        let text = "  why:  the server\n        is busy\n" + String(repeating: "文", count: 12)
        #expect(
            TransferDetails.broken(text, columns: 20)
                == ["  why:  the server", "        is busy", String(repeating: "文", count: 10), "文文"])
        #expect(TransferDetails.broken("one two three", columns: 9) == ["one two ", "three"])
        #expect(TransferDetails.broken("\u{1b}[2J", columns: 80) == ["\\u{1b}[2J"])
        #expect(TransferDetails.broken("", columns: 80) == [""])
    }

    @Test("before the first reading, the head has no counts")
    func firstFrame() {
        let layout = MonitorLayout(columns: 80, height: 12, blocks: .unicode, now: evening)
        let lines = layout.lines(MonitorSnapshot(), MonitorView(), details: []).map(\.text)
        #expect(!lines.contains { $0.contains("running") || $0.contains("B/s") })
        #expect(lines[4] == "Reading the store.")
    }

    @Test("the help of the keys has all its words on a terminal with 80 columns and 24 lines")
    func keyHelp() {
        let words = screen(mixed, keys: [.character("?")], height: 24).flatMap { $0.split(separator: " ") }
        for key in MonitorKey.all {
            #expect(words.firstRange(of: key.help.split(separator: " ")) != nil, "\(key.help)")
        }
        #expect(words.suffix(6).joined(separator: " ") == "any key: back to the list")
    }

    @Test("if no session has the name, the screen says which sessions there are")
    func absence() {
        let list = StoreReader.SessionList.named("typo")
        #expect(list.absence(["photos", "default"]) == "There is no session 'typo'. There are: 'default', 'photos'.")
        #expect(list.absence([]) == "There is no session 'typo' and no other session.")
        let many = Set((10..<40).map { "s\($0)" })
        #expect(list.absence(many)?.hasSuffix("'s28', 's29' and 10 more.") == true)
        #expect(StoreReader.SessionList.all.absence([]) == nil)
        var empty = snapshot([])
        empty.absence = list.absence(["photos"])
        let layout = MonitorLayout(columns: 40, height: 12, blocks: .unicode, now: evening)
        let lines = layout.lines(empty, MonitorView(), details: []).map(\.text)
        #expect(lines[4...5] == ["There is no session 'typo'. There are: ", "'photos'."])
    }

    // MARK: Keys

    private func view(_ rows: [TransferRow] = mixed, room: Int = 10, keys: TerminalKey...) -> MonitorView {
        var view = MonitorView()
        view.update(rows, room: room)
        for key in keys { _ = view.press(key) }
        return view
    }

    @Test("each key of the table has one meaning")
    func keyTable() {
        let keys = MonitorKey.all.flatMap(\.keys)
        #expect(keys.indices.allSatisfy { keys.firstIndex(of: keys[$0]) == $0 })
        for entry in MonitorKey.all {
            #expect(entry.keys.allSatisfy { MonitorKey.command(of: $0) == entry.command })
        }
    }

    @Test("a key acts on the selected transfer, or on the marked ones")
    func actions() {
        var view = view()
        #expect(view.press(.character("s")) == .act(.suspend, [key(5)]))
        _ = view.press(.down)
        #expect(view.press(.character("t")) == .act(.retry, [key(4)]))
        _ = view.press(.character(" "))
        _ = view.press(.character(" "))
        #expect(
            view.press(.character("r")) == .act(.resume, [key(4), key(3)]))
        #expect(view.marked.isEmpty)
        #expect(view.press(.character("q")) == .quit)
    }

    @Test("a transfer is cancelled only after the answer y")
    func cancel() {
        var view = view()
        #expect(view.press(.character("c")) == .none)
        #expect(view.press(.enter) == .none)
        #expect(view.mode == .list)
        _ = view.press(.character("c"))
        #expect(view.press(.character("y")) == .act(.cancel, [key(5)]))
    }

    @Test("the priority and the rate are typed, and a wrong value changes nothing")
    func prompts() {
        var view = view(keys: .character("p"), .character("-"), .character("7"), .backspace, .character("5"))
        #expect(view.press(.enter) == .act(.priority(-5), [key(5)]))
        for key in "l500k" { _ = view.press(.character(key)) }
        #expect(view.press(.enter) == .act(.rate(512_000), [key(5)]))
        for key in "p101" { _ = view.press(.character(key)) }
        #expect(view.press(.enter) == .none)
        #expect(view.message == "'101' is no priority; give a number from -100 to 100, or now")
        for key in "lx" { _ = view.press(.character(key)) }
        #expect(view.press(.escape) == .none)
        #expect(view.mode == .list)
    }

    @Test("Ctrl-W erases the last word of a prompt, and Ctrl-U the whole text")
    func erasing() {
        var view = view()
        for key in "/one two  " { _ = view.press(.character(key)) }
        for text in ["one ", "", ""] {
            _ = view.press(.eraseWord)
            #expect(view.mode == .prompt(.filter, text: text))
        }
        for key in "one two" { _ = view.press(.character(key)) }
        _ = view.press(.eraseLine)
        #expect(view.mode == .prompt(.filter, text: ""))
    }

    @Test("the filter selects by all of its words, and ignores the case of ASCII letters")
    func filter() {
        var view = view()
        for key in "/ISO fail" { _ = view.press(.character(key)) }
        _ = view.press(.enter)
        #expect(view.rows.map(\.key.id.rawValue) == [3])
        #expect(view.filter.text == "ISO fail")
        for text in ["example.org/3", "photos", "retry", "large"] {
            #expect(mixed.contains { RowFilter(text).matches($0) }, "\(text)")
        }
        #expect(!mixed.contains { RowFilter("iso nothing").matches($0) })
    }

    @Test("the selected transfer stays selected while others come and go, but is not followed to its end")
    func selection() {
        var view = view(keys: .down, .down)
        #expect(view.selected?.key.id.rawValue == 3)
        view.update(mixed + [row(9, rate: 5)], room: 10)
        #expect(view.selected?.key.id.rawValue == 3)
        var moving = self.view([row(1), row(2), row(3)], keys: .down)
        #expect(moving.selected?.key.id.rawValue == 2)
        moving.update([row(1), row(2, .succeeded), row(3)], room: 10)
        #expect(moving.selected?.key.id.rawValue == 3)
        moving.update([], room: 10)
        #expect(moving.selected == nil)
        #expect(moving.press(.character("s")) == .none)
    }

    @Test("the list scrolls with the selection")
    func scrolling() {
        let many = (1...100).map { row($0) }
        var view = view(many, room: 10, keys: .pageDown)
        #expect(view.shown.map(\.key.id.rawValue) == Array(11...20))
        _ = view.press(.end)
        #expect(view.shown.map(\.key.id.rawValue) == Array(91...100))
        #expect(view.selected?.key.id.rawValue == 100)
        _ = view.press(.home)
        _ = view.press(.up)
        #expect(view.selected?.key.id.rawValue == 1)
    }

    @Test("the orders by number, name, bytes left and rate")
    func orders() {
        let rows = [
            row(1, name: "b", done: 1, total: 9, rate: 1), row(2, name: "c", done: 0, total: 99, rate: 5),
            row(3, name: "a", done: 0, total: 5, rate: 3),
        ]
        func ids(_ order: RowOrder) -> [UInt64] { order.sorted(rows).map(\.key.id.rawValue) }
        #expect(ids(.number) == [1, 2, 3])
        #expect(ids(.name) == [3, 1, 2])
        #expect(ids(.left) == [2, 1, 3])
        #expect(ids(.rate) == [2, 3, 1])
        #expect(RowOrder.allCases.reduce(.state) { order, _ in order.next } == RowOrder.state)
    }

    // MARK: Rates and pages

    @Test("the graph has the averages of equal periods, and only its newest column changes within a period")
    func graph() {
        var history = RateHistory()
        for second in 1200..<1500 { history.add(second < 1350 ? 10 : 30, milliseconds: Int64(second) * 1000) }
        #expect(history.averages(columns: 10) == [10, 10, 10, 10, 10, 30, 30, 30, 30, 30])
        let before = history.averages(columns: 10)
        history.add(90, milliseconds: 1_500_000)
        history.add(90, milliseconds: 1_501_000)
        let after = history.averages(columns: 10)
        #expect(Array(after.dropLast()) == Array(before.dropFirst()))
        #expect(after.last == 90)
        #expect(Blocks.unicode.graph([0, 1, 8, 16], rows: 2) == ["   █", " ▁██"])
        #expect(Blocks.ascii.graph([0, 8], rows: 1) == [" #"])
    }

    @Test("seconds without a reading get the next reading, and old readings leave the graph")
    func gaps() {
        var history = RateHistory()
        history.add(10, milliseconds: 1_000_000)
        history.add(20, milliseconds: 1_003_000)
        #expect(history.averages(columns: 300).suffix(4) == [10, 20, 20, 20])
        history.add(5, milliseconds: 9_000_000)
        #expect(history.averages(columns: 300) == [UInt64](repeating: 5, count: 300))
    }

    @Test("a page of the listing replaces the rows with its numbers, and removes those that it lacks")
    func pages() {
        var rows = SessionRows()
        rows.replace(after: nil, through: TaskID(rawValue: 3), by: [row(1), row(3)])
        rows.replace(after: TaskID(rawValue: 3), through: nil, by: [row(4), row(6)])
        rows.update([row(5), row(6, .failed)])
        #expect(rows.rows.map(\.key.id.rawValue) == [1, 3, 4, 5, 6])
        #expect(rows.rows.last?.task.state == .failed)
        rows.replace(after: TaskID(rawValue: 3), through: TaskID(rawValue: 5), by: [row(5)])
        #expect(rows.rows.map(\.key.id.rawValue) == [1, 3, 5, 6])
        rows.remove([TaskID(rawValue: 1), TaskID(rawValue: 6)])
        #expect(rows.last?.rawValue == 5)
    }

    @Test("if the screen is full, a rotation ends, and the next ones read the same transfers")
    func fullScreen() {
        var rows = SessionRows()
        rows.take([row(1), row(2, .suspended)], more: true, hasRoom: true)
        #expect(rows.isAtLimit && rows.rotations == 0)
        rows.endRotation()
        #expect(rows.rotations == 1 && !rows.isComplete && !rows.isAtLimit)
        rows.update([row(7), row(8, .waiting)])
        rows.take([row(1), row(2), row(3), row(4)], more: true, hasRoom: false)
        #expect(rows.isAtLimit)
        #expect(rows.rows.map(\.key.id.rawValue) == [1, 2, 7, 8])
        rows.endRotation()
        rows.removeIdle()
        #expect(rows.rows.map(\.key.id.rawValue) == [1, 2, 7])
    }

    @Test("if the screen is no longer full, a rotation continues after its limit")
    func roomAgain() {
        var rows = SessionRows()
        rows.endRotation()
        #expect(rows.isAtLimit)
        rows.take([row(1), row(2)], more: true, hasRoom: true)
        rows.take([row(3)], more: false, hasRoom: true)
        #expect(rows.rows.map(\.key.id.rawValue) == [1, 2, 3])
        #expect(rows.isComplete && rows.rotations == 2)
    }
}
