import CNcurses
import Glibc

/// The terminal, on which the live screen is drawn. The library ncurses sends only the cells that have changed.
final class CursesScreen {
    private let hasColors: Bool
    /// Whether the terminal shows another program's output, so that all cells must be sent.
    private var isCovered = true
    private var isOpen = true

    /// Nil if the terminal database does not have this kind of terminal.
    init?(hasColors: Bool) {
        guard bhn_start() else { return nil }
        self.hasColors = bhn_start_colors() && hasColors
    }

    /// Whether the locale encodes text in UTF-8, so that block characters can be shown.
    static var isUnicode: Bool { String(cString: nl_langinfo(nl_item(CODESET))) == "UTF-8" }

    func draw(_ lines: [ScreenLine]) {
        bhn_erase()
        for (row, line) in lines.enumerated() {
            bhn_move(Int32(row), 0)
            for piece in line.pieces {
                let style = piece.style
                bhn_set_style(style.isBold, style.isReversed, hasColors ? style.color.rawValue : 0)
                bhn_write(piece.text.unicodeScalars.map { wchar_t($0.value) } + [0])
            }
        }
        bhn_set_style(false, false, 0)
        bhn_show(isCovered)
        isCovered = false
        isOpen = true
    }

    func resize(columns: Int, rows: Int) { bhn_resize(Int32(rows), Int32(columns)) }

    /// Sends all cells at the next drawing.
    func redrawAll() { isCovered = true }

    /// Gives the terminal back to the shell, until the next drawing.
    func end() {
        if isOpen { bhn_end() }
        isOpen = false
        isCovered = true
    }

    /// The keys that have arrived.
    func keys() -> [TerminalKey] {
        var keys: [TerminalKey] = []
        var code = wint_t()
        while true {
            switch bhn_key(&code) {
            case 1: if let key = CursesScreen.key(character: code) { keys.append(key) }
            case 2: if let key = CursesScreen.key(code: Int32(bitPattern: code)) { keys.append(key) }
            default: return keys
            }
        }
    }

    private static func key(character code: wint_t) -> TerminalKey? {
        switch code {
        case 13, 10: return .enter
        case 27: return .escape
        case 8, 127: return .backspace
        case 12: return .redraw
        // Ctrl-U and Ctrl-W, which terminals use for this by default (termios(3): VKILL, VWERASE).
        case 21: return .eraseLine
        case 23: return .eraseWord
        default:
            guard let scalar = Unicode.Scalar(code), Text.isPrintable(scalar) else { return nil }
            return .character(Character(scalar))
        }
    }

    private static func key(code: Int32) -> TerminalKey? {
        switch code {
        case KEY_UP: .up
        case KEY_DOWN: .down
        case KEY_PPAGE: .pageUp
        case KEY_NPAGE: .pageDown
        case KEY_HOME: .home
        case KEY_END: .end
        case KEY_ENTER: .enter
        case KEY_BACKSPACE: .backspace
        default: nil
        }
    }
}
