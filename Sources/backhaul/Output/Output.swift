import Backhaul
import struct BackhaulModel.ShownURL
import CLinux
import Glibc

/// The process's two output streams: results on stdout, everything else on stderr.
final class Output {
    let isJSON: Bool
    let isQuiet: Bool
    private let panel: Panel?

    init(isJSON: Bool, isQuiet: Bool) {
        self.isJSON = isJSON
        self.isQuiet = isQuiet
        panel = isQuiet ? nil : Terminal(STDERR_FILENO).map { Panel($0) }
    }

    /// The terminal on which progress is drawn, if there is one.
    var progressTerminal: Terminal? { panel?.terminal }

    /// The width of the terminal to which results are written. Nil if they go elsewhere, where no text is shortened.
    var columns: Int? { isJSON ? nil : Terminal(STDOUT_FILENO)?.size.columns }

    /// Writes one line of the result.
    func result(_ line: String) throws(CommandError) { try result(lines: [line]) }

    func result(lines: [String]) throws(CommandError) {
        if lines.isEmpty { return }
        panel?.clear()
        var text = ""
        for line in lines { text += line + "\n" }
        if !Output.write(text, to: STDOUT_FILENO) {
            throw .stopped(.transferFailed, "standard output cannot be written: \(reasonOfLastError())")
        }
    }

    func result(_ value: JSON) throws(CommandError) { try result(value.text) }

    /// Writes a sentence for the user to stderr. The sentence is not part of the result.
    func note(_ sentence: String) {
        if isQuiet { return }
        panel?.clear()
        _ = Output.write(Text.visible(sentence) + "\n", to: STDERR_FILENO)
    }

    /// Writes a note about an empty list, if a user reads it at a terminal. A script sees that the list is empty.
    func noteOnTerminal(_ sentence: String) {
        if panel != nil && !isJSON { note(sentence) }
    }

    func error(_ sentence: String) {
        panel?.clear()
        Output.writeError(sentence)
    }

    /// Does the same on any thread of a process that draws no progress.
    static func writeError(_ sentence: String) {
        _ = Output.write("backhaul: " + Text.visible(sentence) + "\n", to: STDERR_FILENO)
    }

    /// Writes an error to stderr. With `--json`, the error is one line of JSON.
    func error(_ failure: BackhaulError) {
        guard isJSON else { return error(failure.message) }
        panel?.clear()
        _ = Output.write(JSON.object([("error", failure.json)]).text + "\n", to: STDERR_FILENO)
    }

    /// Writes why a command ends. A signal needs no sentence.
    func error(_ error: CommandError) {
        switch error {
        case .usage(let text):
            let sentence = ShownURL.withoutUsers(text)
            if isJSON { return self.error(BackhaulError(ExitCode.usage, sentence)) }
            for line in sentence.split(separator: "\n") { self.error(String(line)) }
        case .failure(let failure): self.error(failure)
        case .stopped(let code, let sentence): self.error(BackhaulError(code, sentence))
        case .interrupted: break
        }
    }

    /// Writes the error about an invalid line of a list. The other lines of the list are enqueued.
    func skippedLine(_ error: CommandError) {
        if case .failure(let failure) = error { self.error(failure) }
    }

    func draw(_ lines: [String]) { panel?.draw(lines) }

    func clearProgress() { panel?.clear() }

    static func write(_ text: String, to descriptor: Int32) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            waitUntilWritable(descriptor)
            // A writable pipe has room for so many bytes, so the call does not block.
            let count = bytes.prefix(Int(PIPE_BUF)).withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 {
                // Another process may have made the descriptor non-blocking.
                if bhl_errno() == EINTR || bhl_errno() == EAGAIN { continue }
                return false
            }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    /// Waits while nothing reads the output. `Signals` has blocked the signals that end the process. In this wait they
    /// end it at once, because the command cannot continue.
    private static func waitUntilWritable(_ descriptor: Int32) {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&polled, 1, 0) == 0 else { return }
        var (ending, before) = (sigset_t(), sigset_t())
        sigemptyset(&ending)
        for number in Signals.ending { sigaddset(&ending, number) }
        sigprocmask(SIG_UNBLOCK, &ending, &before)
        poll(&polled, 1, -1)
        sigprocmask(SIG_SETMASK, &before, nil)
    }
}

/// A few lines at the bottom of a terminal, which are redrawn in place. Each drawing is one write, so that the lines do
/// not flicker.
private final class Panel {
    let terminal: Terminal
    private var height = 0

    init(_ terminal: Terminal) { self.terminal = terminal }

    func draw(_ lines: [String]) {
        var text = toTop
        for (index, line) in lines.enumerated() {
            text += line + Panel.eraseToEndOfLine
            if index < lines.count - 1 { text += "\n" }
        }
        text += Panel.eraseBelow
        height = lines.count
        _ = Output.write(text, to: terminal.descriptor)
    }

    func clear() {
        guard height > 0 else { return }
        _ = Output.write(toTop + Panel.eraseBelow, to: terminal.descriptor)
        height = 0
    }

    private var toTop: String { "\r" + (height > 1 ? "\u{1b}[\(height - 1)A" : "") }
    private static let eraseToEndOfLine = "\u{1b}[K"
    private static let eraseBelow = "\u{1b}[J"
}
