import CLinux
import Glibc

/// A terminal that output goes to.
struct Terminal {
    let descriptor: Int32
    let hasColors: Bool

    /// Nil when the descriptor leads to a file, a pipe, or a terminal that cannot move its cursor.
    init?(_ descriptor: Int32) {
        guard isatty(descriptor) == 1, let kind = environment("TERM"), kind != "dumb" else { return nil }
        self.descriptor = descriptor
        // https://no-color.org: any value but the empty one.
        hasColors = environment("NO_COLOR") == nil
    }

    /// Asked for at each drawing, because windows change their size.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard bhl_terminal_size(descriptor, &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    func colored(_ text: String, _ code: Int) -> String { hasColors ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text }
}
