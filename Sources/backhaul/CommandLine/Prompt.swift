import CLinux
import Glibc

/// Questions to the person at the process's terminal, whatever its streams are.
struct Prompt {
    private let descriptor: Int32

    /// Nil without a terminal, or when another job has it: a job in the background would be stopped by asking.
    init?() {
        let terminal = bhl_open("/dev/tty", O_RDWR, 0)
        guard terminal >= 0 else { return nil }
        guard tcgetpgrp(terminal) == getpgrp() else {
            close(terminal)
            return nil
        }
        descriptor = terminal
    }

    /// One line, without its end. Nil when the terminal has hung up or the person has ended the input.
    /// - Parameter isSecret: what is typed is not shown.
    func ask(_ question: String, isSecret: Bool = false, _ signals: Signals) throws(CommandError) -> String? {
        var former = termios()
        let isHidden = isSecret && tcgetattr(descriptor, &former) == 0
        if isHidden {
            var hidden = former
            hidden.c_lflag &= ~tcflag_t(ECHO)
            // What was typed ahead is thrown away: it was shown.
            tcsetattr(descriptor, TCSAFLUSH, &hidden)
        }
        // Not before: whoever sees the question may type.
        _ = Output.write(Text.visible(question), to: descriptor)
        defer {
            if isHidden {
                tcsetattr(descriptor, TCSAFLUSH, &former)
                _ = Output.write("\n", to: descriptor)
            }
        }
        var line: [UInt8] = []
        while true {
            guard try signals.wait(for: descriptor, milliseconds: nil) else { continue }
            var byte: UInt8 = 0
            guard read(descriptor, &byte, 1) == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }

    func end() { close(descriptor) }
}
