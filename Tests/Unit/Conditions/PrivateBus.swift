import Glibc
import Testing

/// A private message bus. The package python-dbusmock provides the fakes of NetworkManager and logind on the bus. The
/// child process Tests/Integration/conditions/buses.py runs the bus, and performs one command for each line of its
/// input.
final class PrivateBus {
    let address: String
    private let process: pid_t
    private let socket: Int32
    private let replies: UnsafeMutablePointer<FILE>

    init() throws {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Threads that run tests block all signals. A child process inherits this signal mask, so the mask is emptied
        // for the child.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words = ["python3", PrivateBus.program]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let result = posix_spawnp(&process, "python3", &actions, &attributes, &arguments, environ)
        close(ends[1])
        socket = ends[0]
        replies = try #require(fdopen(ends[0], "r"))
        self.process = process
        try #require(result == 0)
        address = try #require(PrivateBus.line(replies), "buses.py made no bus")
    }

    private static var program: String {
        let tests = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/" + tests + "/Integration/conditions/buses.py"
    }

    /// Calls a method of the object `bus`, `network` or `logind`. Returns the result in Python's notation.
    @discardableResult
    func call(_ name: String, _ method: String, _ words: String..., at location: SourceLocation = #_sourceLocation)
        throws -> String
    {
        let line = ([name, method] + words).joined(separator: "\t") + "\n"
        try #require(send(socket, line, line.utf8.count, Int32(MSG_NOSIGNAL)) == line.utf8.count)
        let reply = try #require(PrivateBus.line(replies), sourceLocation: location)
        try #require(!reply.hasPrefix("failed:"), "\(reply)", sourceLocation: location)
        return reply
    }

    private static func line(_ file: UnsafeMutablePointer<FILE>) -> String? {
        // Unsafe: getline allocates the buffer, and this function frees it.
        var buffer: UnsafeMutablePointer<CChar>?
        defer { free(buffer) }
        var size = 0
        guard getline(&buffer, &size, file) > 0, let buffer else { return nil }
        return String(cString: buffer).filter { $0 != "\n" }
    }

    deinit {
        shutdown(socket, Int32(SHUT_WR))
        waitpid(process, nil, 0)
        fclose(replies)
    }
}
