import Backhaul
import CLinux
import Glibc

/// The signals that request the end of the process. The process has no signal handler. Instead, a command reads the
/// signals from a descriptor, between two steps of its work.
struct Signals {
    static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    private let descriptor: Int32

    /// Blocks the signals. This must be called before the process starts other threads, because new threads inherit the
    /// signal mask.
    init() {
        var set = sigset_t()
        sigemptyset(&set)
        // Signals that the parent ignores (nohup, a background job of a shell without job control) stay ignored.
        for number in Self.ending where bhl_is_ignored(number) == 0 { sigaddset(&set, number) }
        sigprocmask(SIG_BLOCK, &set, nil)
        descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    }

    /// Whether a signal has arrived that `check` has not reported.
    var isPending: Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 0) > 0
    }

    /// Calls the library. A signal that arrives meanwhile ends the call, and is reported in place of its error.
    func call<Value>(_ body: () throws(BackhaulError) -> Value) throws(CommandError) -> Value {
        do {
            return try body()
        } catch {
            try check()
            throw .failure(error.spoken)
        }
    }

    func check() throws(CommandError) {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        if descriptor >= 0, read(descriptor, &information, size) == size {
            throw .interrupted(Int32(information.ssi_signo))
        }
    }

    /// Waits until `other` is readable, a signal arrives, or the time is over. If `milliseconds` is nil, this function
    /// waits without a time limit.
    /// - Returns: Whether `other` is readable.
    func wait(for other: Int32?, milliseconds: Int64?) throws(CommandError) -> Bool {
        try wait(for: other.map { [pollfd(fd: $0, events: Int16(POLLIN), revents: 0)] } ?? [], milliseconds)
            .contains { $0 != 0 }
    }

    /// Does the same for several descriptors, and for the events that each one names.
    /// - Returns: For each of the descriptors, what has occurred, as in poll(2).
    func wait(for others: [pollfd], _ milliseconds: Int64?) throws(CommandError) -> [Int16] {
        var polled = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)] + others
        poll(&polled, nfds_t(polled.count), milliseconds.map { Int32(clamping: max(0, $0)) } ?? -1)
        try check()
        return polled.dropFirst().map(\.revents)
    }

    /// Ends the process by the default action of the signal. So the calling shell can see which signal ended the
    /// process.
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
