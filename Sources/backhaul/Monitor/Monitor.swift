import Backhaul
import CLinux
import Glibc

/// The live screen: reads the store, draws, and reacts to keys and signals, until the user ends it.
final class Monitor {
    private static let interval: Int64 = 1000
    /// The interval until all transfers have been read once.
    private static let firstInterval: Int64 = 500

    private let context: Context
    private let application: Application
    private let terminal: Terminal
    private let screen: CursesScreen
    private let terminalSignals: TerminalSignals
    private let reader: StoreReader
    private var details: TransferDetails
    private var view = MonitorView()

    init(
        _ context: Context, _ application: Application, _ terminal: Terminal, _ screen: CursesScreen,
        _ terminalSignals: TerminalSignals
    ) {
        self.context = context
        self.application = application
        self.terminal = terminal
        self.screen = screen
        self.terminalSignals = terminalSignals
        reader = StoreReader(context, application)
        details = TransferDetails(context, application)
    }

    func run() throws(CommandError) {
        defer { screen.end() }
        var nextReading: Int64 = 0
        try draw()
        while true {
            if Clock.milliseconds >= nextReading {
                try reader.read()
                nextReading = Clock.milliseconds + (reader.isRead ? Monitor.interval : Monitor.firstInterval)
            }
            try draw()
            let awaited = [STDIN_FILENO, terminalSignals.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            let ready = try context.signals.wait(for: awaited, nextReading - Clock.milliseconds)
            // The terminal is gone, and no signal has reported this.
            if ready[0] & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { return }
            if ready[1] != 0 { handleSignals() }
            for key in ready[0] != 0 ? screen.keys() : [] {
                if key == .redraw { screen.redrawAll() }
                switch view.press(key) {
                case .none: break
                case .quit: return
                case .act(let action, let keys):
                    view.message = try action.perform(keys, application)
                    nextReading = 0
                }
            }
        }
    }

    private func handleSignals() {
        let arrived = terminalSignals.arrived()
        if arrived.contains(SIGTSTP) {
            screen.end()
            TerminalSignals.stop()
        }
        // While the process was stopped, another program may have used the terminal.
        if arrived.contains(SIGCONT) { screen.end() }
        if arrived.contains(SIGWINCH) {
            let (columns, rows) = terminal.size
            screen.resize(columns: columns, rows: rows)
        }
    }

    private func draw() throws(CommandError) {
        let (columns, height) = terminal.size
        let layout = MonitorLayout(
            columns: columns, height: height, blocks: CursesScreen.isUnicode ? .unicode : .ascii,
            now: Clock.wallMilliseconds)
        view.update(reader.snapshot.rows, room: layout.room)
        reader.visible = view.shown.map(\.key)
        var lines: [String] = []
        if case .details(let key, _) = view.mode {
            lines = try details.lines(of: key, columns: columns)
            view.limitDetails(lines: lines.count)
        }
        screen.draw(layout.lines(reader.snapshot, view, details: lines))
    }
}
