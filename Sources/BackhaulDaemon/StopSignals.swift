import BackhaulPlatform
import CLinux
import Glibc

/// A descriptor that receives SIGTERM and SIGINT. The daemon, which is a process that runs transfers, needs no other
/// signals. So all signals are blocked, except those that report defects in the program.
struct StopSignals {
    private let descriptor: Int32

    /// Blocks the signals. It must be called before any thread exists.
    init() {
        var all = sigset_t()
        sigfillset(&all)
        // Signals that report defects in the program are not blocked, so that they end the process.
        for number in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&all, number) }
        sigprocmask(SIG_SETMASK, &all, nil)
        var stopping = sigset_t()
        sigemptyset(&stopping)
        sigaddset(&stopping, SIGTERM)
        sigaddset(&stopping, SIGINT)
        descriptor = signalfd(-1, &stopping, Int32(SFD_CLOEXEC))
    }

    /// Waits for a signal or for `other`. Returns the number of the signal, or nil if `other` was set.
    func wait(orSet other: EventFD) -> Int32? {
        while true {
            var polled = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: other.number, events: Int16(POLLIN), revents: 0),
            ]
            poll(&polled, 2, -1)
            if polled[0].revents != 0 {
                var information = signalfd_siginfo()
                let size = MemoryLayout<signalfd_siginfo>.size
                if read(descriptor, &information, size) == size { return Int32(information.ssi_signo) }
            }
            if polled[1].revents != 0 { return nil }
        }
    }
}
