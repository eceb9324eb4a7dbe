import CLinux
import Glibc

/// The signals that ask the process to leave, as something to look at between two steps instead of a handler.
struct Signals {
    private let descriptor: Int32

    /// Call before any thread exists.
    init() {
        var set = sigset_t()
        sigemptyset(&set)
        // What the parent has set to be ignored (nohup, a background job of a plain shell) stays ignored.
        for number in [SIGINT, SIGTERM, SIGHUP] where bhl_is_ignored(number) == 0 { sigaddset(&set, number) }
        sigprocmask(SIG_BLOCK, &set, nil)
        descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    }

    func check() throws(CommandError) {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        if descriptor >= 0, read(descriptor, &information, size) == size {
            throw .interrupted(Int32(information.ssi_signo))
        }
    }

    /// Waits until `other` is readable, a signal has come, or the time is over (nil: however long that takes).
    /// - Returns: whether `other` is readable.
    func wait(for other: Int32?, milliseconds: Int64?) throws(CommandError) -> Bool {
        var polled = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if let other { polled.append(pollfd(fd: other, events: Int16(POLLIN), revents: 0)) }
        poll(&polled, nfds_t(polled.count), milliseconds.map { Int32(clamping: max(0, $0)) } ?? -1)
        try check()
        return polled.count > 1 && polled[1].revents != 0
    }

    /// Ends the process by the signal, as if it had never been blocked, so that a calling shell sees what happened.
    static func terminate(of number: Int32) -> Never {
        bhl_set_default(number)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        sigprocmask(SIG_UNBLOCK, &set, nil)
        kill(getpid(), number)
        _exit(128 + number)
    }
}
