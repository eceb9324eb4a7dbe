import CLinux
import Glibc

/// Runs a program of the system and waits until it ends.
enum Subprocess {
    /// Runs the program. Returns nil if it exits with code 0. Otherwise returns the program's output on stderr as one
    /// line, or the reason of the failure.
    static func run(_ words: [String], signals: Signals) throws(CommandError) -> String? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return reasonOfLastError() }
        defer { close(ends[0]) }
        for end in ends { _ = bhl_fcntl_int(end, F_SETFD, FD_CLOEXEC) }
        var process: pid_t = 0
        let code = spawn(words, errors: ends[1], &process)
        close(ends[1])
        guard code == 0 else { return "\(words[0]) cannot be started: \(String(cString: strerror(code)))" }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var status: Int32 = -1
        do throws(CommandError) {
            while true {
                guard try signals.wait(for: ends[0], milliseconds: 30_000) else {
                    kill(process, SIGKILL)
                    waitpid(process, &status, 0)
                    return "\(words[0]) was not done after 30 seconds"
                }
                let count = read(ends[0], &buffer, buffer.count)
                if count <= 0 { break }
                if output.count < 1 << 16 { output += buffer[..<count] }
            }
        } catch {
            kill(process, SIGTERM)
            waitpid(process, &status, 0)
            throw error
        }
        waitpid(process, &status, 0)
        if status == 0 { return nil }
        let text = String(decoding: output, as: UTF8.self).split(separator: "\n").joined(separator: " ")
        return text.isEmpty ? "\(words.joined(separator: " ")) failed" : text
    }

    /// Starts the program. The program's output on stdout is discarded. The program starts without blocked signals.
    private static func spawn(_ words: [String], errors: Int32, _ process: inout pid_t) -> Int32 {
        let arena = CStringArena()
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        // Unsafe: the strings are valid as long as the arena, which owns them, exists. The array is valid until the
        // call returns.
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { UnsafeMutablePointer(mutating: arena.string($0)) }
        return posix_spawnp(&process, words[0], &actions, &attributes, arguments + [nil], Glibc.environ)
    }
}
