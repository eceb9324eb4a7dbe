import BackhaulPlatform
import CLinux
import Glibc

/// Runs a shell script in a child process. The script must end when its standard input ends. The standard input ends
/// when `end` is called, or when this process ends.
final class Shell: Sendable {
    private let process: pid_t
    /// The writing end of the script's standard input, or nil after this end is closed.
    private let leash: Lock<Int32?>

    /// A mutex for the starts of child processes. Without the mutex, a child could inherit the `leash` descriptor of
    /// another child that starts at the same time.
    private static let starting = Lock(())

    init(_ script: String, _ arguments: [String]) throws(SystemError) {
        let (process, end) = try Shell.starting.withLock { _ throws(SystemError) in
            try Shell.start(script, arguments)
        }
        self.process = process
        leash = Lock(end)
    }

    /// Runs the script to its end. Returns whether the script succeeded.
    static func run(_ script: String, _ arguments: [String]) -> Bool {
        guard let shell = try? Shell(script, arguments) else { return false }
        let status = shell.wait()
        shell.release()
        return status == 0
    }

    var isRunning: Bool { waitpid(process, nil, WNOHANG) == 0 }

    /// Ends the script, and waits until its process has ended. Repeated calls have no effect.
    func end() {
        if release() { _ = wait() }
    }

    @discardableResult
    private func release() -> Bool {
        leash.withLock { leash in
            guard let number = leash else { return false }
            close(number)
            leash = nil
            return true
        }
    }

    private func wait() -> Int32 {
        var status: Int32 = -1
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    private static func start(_ script: String, _ arguments: [String]) throws(SystemError) -> (pid_t, Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError(code: errno, messageStart: "no pipe") }
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        for output in [Int32(1), 2] { posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0) }
        // The threads of Swift's runtime block signals, and child processes inherit the signal mask. So the mask is
        // emptied.
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
            close(ends[0])
        }
        var process: pid_t = 0
        var words = (["sh", "-c", script] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let result = posix_spawn(&process, "/bin/sh", &actions, &attributes, &words, Glibc.environ)
        guard result == 0 else {
            close(ends[1])
            throw SystemError(code: result, messageStart: "no child process")
        }
        return (process, ends[1])
    }
}
