/// A key, as the terminal library has read it.
enum TerminalKey: Equatable {
    case character(Character)
    case up, down, pageUp, pageDown, home, end, enter, escape, backspace, eraseWord, eraseLine, redraw
}

/// What the user wants of the live screen.
enum MonitorCommand: Equatable {
    case move(Movement)
    case details, mark, suspend, resume, retry, priority, rate, cancel, filter, order, redraw, help, quit

    enum Movement: Equatable {
        case lines(Int)
        case pages(Int)
        case start, end
    }
}

/// The table of keys. The help of the screen and the documentation show it.
struct MonitorKey {
    let keys: [TerminalKey]
    let command: MonitorCommand
    /// The keys in words.
    let name: String
    /// What they do.
    let help: String
    /// The word for the last line of the screen. Nil if the line does not have the key.
    var short: String?

    static let all = [
        MonitorKey(keys: [.up, .character("k")], command: .move(.lines(-1)), name: "Up, k", help: "one row up"),
        MonitorKey(keys: [.down, .character("j")], command: .move(.lines(1)), name: "Down, j", help: "one row down"),
        MonitorKey(keys: [.pageUp], command: .move(.pages(-1)), name: "Page Up", help: "one page up"),
        MonitorKey(keys: [.pageDown], command: .move(.pages(1)), name: "Page Down", help: "one page down"),
        MonitorKey(keys: [.home, .character("g")], command: .move(.start), name: "Home, g", help: "the first row"),
        MonitorKey(keys: [.end, .character("G")], command: .move(.end), name: "End, G", help: "the last row"),
        MonitorKey(
            keys: [.enter], command: .details, name: "Enter",
            help: "details of the transfer: its URL, sizes, attempts and waits", short: "details"),
        MonitorKey(
            keys: [.character(" ")], command: .mark, name: "Space",
            help: "mark the transfer or remove its mark; the next change is for all marked ones; Escape unmarks"),
        MonitorKey(
            keys: [.character("s")], command: .suspend, name: "s", help: "suspend; the bytes so far are kept",
            short: "suspend"),
        MonitorKey(
            keys: [.character("r")], command: .resume, name: "r", help: "resume a suspended transfer",
            short: "resume"),
        MonitorKey(
            keys: [.character("t")], command: .retry, name: "t", help: "try a waiting transfer again immediately",
            short: "retry"),
        MonitorKey(
            keys: [.character("p")], command: .priority, name: "p",
            help: "set the priority: -100 to 100, or now", short: "priority"),
        MonitorKey(
            keys: [.character("l")], command: .rate, name: "l",
            help: "limit the bytes per second, such as 500k or 2M; 0 removes the limit", short: "limit"),
        MonitorKey(
            keys: [.character("c")], command: .cancel, name: "c",
            help: "cancel, after a question; the received bytes are removed", short: "cancel"),
        MonitorKey(
            keys: [.character("/")], command: .filter, name: "/",
            help: "show only rows with these words in name, URL, application, session, state, reason or group",
            short: "filter"),
        MonitorKey(
            keys: [.character("o")], command: .order, name: "o",
            help: "change the order: state, number, name, bytes left, rate", short: "order"),
        MonitorKey(
            keys: [.redraw], command: .redraw, name: "Ctrl-L", help: "draw the whole screen again"),
        MonitorKey(keys: [.character("?"), .character("h")], command: .help, name: "?, h", help: "show the keys"),
        MonitorKey(
            keys: [.character("q")], command: .quit, name: "q", help: "close details or keys; end", short: "quit"),
    ]

    static func command(of key: TerminalKey) -> MonitorCommand? { all.first { $0.keys.contains(key) }?.command }
}
