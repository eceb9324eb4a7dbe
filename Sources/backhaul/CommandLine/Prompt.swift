import CLinux
import Glibc

/// A prompt on the controlling terminal of the process. The prompt works even if the standard streams are redirected.
struct Prompt {
    private let descriptor: Int32
    /// The time of the monotonic clock at which the prompt ends without a response. Nil means no limit.
    private let deadline: Int64?

    /// Opens the terminal. Nil if there is no terminal. Also nil if the process is a background job, because the kernel
    /// would stop a background job that reads from the terminal.
    init?(until deadline: Int64? = nil) {
        let terminal = bhl_open("/dev/tty", O_RDWR, 0)
        guard terminal >= 0 else { return nil }
        guard tcgetpgrp(terminal) == getpgrp() else {
            close(terminal)
            return nil
        }
        descriptor = terminal
        self.deadline = deadline
    }

    private static let checkInterval: Int64 = 1000

    /// Reads one line, and returns it without its newline. Returns nil if the terminal has hung up, the user has ended
    /// the input, the deadline has passed, or the response is not needed any more.
    /// - Parameters:
    ///   - isSecret: Whether the terminal hides the input.
    ///   - isNeeded: Whether the response is still needed. This is checked while the user types nothing.
    func ask(
        _ question: String, isSecret: Bool = false, _ signals: Signals,
        while isNeeded: () throws(CommandError) -> Bool = { true }
    ) throws(CommandError) -> String? {
        var former = termios()
        let isHidden = isSecret && tcgetattr(descriptor, &former) == 0
        if isHidden {
            var hidden = former
            hidden.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(descriptor, TCSANOW, &hidden)
        }
        // Earlier input is no response, because the user typed it before there was a question.
        tcflush(descriptor, TCIFLUSH)
        // The prompt is written only now, when the input is hidden, because the user may type as soon as the prompt is
        // visible.
        _ = Output.write(Text.visible(question), to: descriptor)
        defer {
            if isHidden {
                tcsetattr(descriptor, TCSANOW, &former)
                _ = Output.write("\n", to: descriptor)
            }
        }
        var line: [UInt8] = []
        while true {
            let rest = deadline.map { $0 - Clock.milliseconds } ?? Int64.max
            guard try signals.wait(for: descriptor, milliseconds: min(rest, Prompt.checkInterval)) else {
                if rest > Prompt.checkInterval {
                    if !line.isEmpty { continue }
                    if try isNeeded() { continue }
                }
                // The beginning of a response must not become input of the shell.
                tcflush(descriptor, TCIFLUSH)
                if !isHidden { _ = Output.write("\n", to: descriptor) }
                return nil
            }
            var byte: UInt8 = 0
            guard read(descriptor, &byte, 1) == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }

    /// Asks for the password of a user.
    static func password(of user: String, _ signals: Signals) throws(CommandError) -> String {
        guard let prompt = Prompt() else {
            throw .usage("there is no terminal to ask for the password; give --password-file")
        }
        defer { prompt.end() }
        guard let password = try prompt.ask("Password of \(user): ", isSecret: true, signals) else {
            throw .usage("no password was given")
        }
        return password
    }

    func end() { close(descriptor) }
}
