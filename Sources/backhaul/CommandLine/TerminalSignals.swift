import CLinux
import Glibc

/// The signals of a terminal: its size has changed, the user stops the process (Ctrl-Z), and the process continues.
struct TerminalSignals {
    /// Readable if one of the signals has arrived.
    let descriptor: Int32

    /// Blocks the signals. This must be called before the process starts other threads, because new threads inherit the
    /// signal mask.
    init() {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGWINCH, SIGTSTP, SIGCONT] where bhl_is_ignored(number) == 0 { sigaddset(&set, number) }
        sigprocmask(SIG_BLOCK, &set, nil)
        descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    }

    /// The signals that have arrived since the last call.
    func arrived() -> Set<Int32> {
        var numbers: Set<Int32> = []
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while descriptor >= 0, read(descriptor, &information, size) == size {
            numbers.insert(Int32(bitPattern: information.ssi_signo))
        }
        return numbers
    }

    /// Stops the process by the default action of SIGTSTP, until it continues.
    static func stop() {
        bhl_set_default(SIGTSTP)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTSTP)
        sigprocmask(SIG_UNBLOCK, &set, nil)
        kill(getpid(), SIGTSTP)
        sigprocmask(SIG_BLOCK, &set, nil)
    }
}
