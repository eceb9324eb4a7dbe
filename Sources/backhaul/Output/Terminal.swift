import CLinux
import Glibc

/// The terminal to which an output stream writes.
struct Terminal {
    /// On a terminal with fewer columns, wide tables leave out some columns.
    static let wide = 110

    let descriptor: Int32
    let hasColors: Bool

    /// Nil if the descriptor belongs to a file, a pipe, or a terminal that cannot move its cursor.
    init?(_ descriptor: Int32) {
        guard isatty(descriptor) == 1, let kind = environment("TERM"), kind != "dumb" else { return nil }
        self.descriptor = descriptor
        // As https://no-color.org demands, any value of NO_COLOR except an empty one turns colors off.
        hasColors = environment("NO_COLOR") == nil
    }

    /// The size of the terminal. It is read before each drawing, because the user may resize the window.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard bhl_terminal_size(descriptor, &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    func colored(_ text: String, _ code: Int) -> String { hasColors ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text }
}
