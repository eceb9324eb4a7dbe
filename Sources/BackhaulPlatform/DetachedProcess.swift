internal import CLinux
internal import Glibc

/// A program that was started without this process as its parent. It has a new session and process group, and continues
/// after this process has ended. When the program ends, this process gets no SIGCHLD, and has no child to reap. If this
/// process is pid 1 of its namespace or a subreaper (prctl(2)), the kernel makes this process the parent nevertheless.
///
/// The program starts with default signal handlers, with /dev/null as its standard descriptors, and without other
/// descriptors. Its stderr may be a file in memory instead, so that the starter can read why the program ended.
///
/// Unsafe: the C strings exist until the call that uses them has returned.
public struct DetachedProcess: Sendable {
    public let processID: Int32
    /// A pidfd, which is readable after the process has ended. Nil if the kernel is older than 5.3, or if a filter of
    /// system calls (seccomp) forbids the call.
    public let descriptor: Descriptor?
    let identity: ProcessIdentity?
    let errors: Descriptor?

    /// Starts a program, and returns when the program runs. Any thread may call this function; it blocks for about a
    /// millisecond.
    ///
    /// - program: the absolute path of the program.
    /// - arguments: the arguments after the program's name.
    /// - environment: all variables, as `NAME=value`.
    /// - umask: the umask of the program. The umask of this process is not used.
    /// - keepsErrors: whether `errorText` returns what the program has written to stderr.
    ///
    /// Throws an error that names the failed step and the kernel's reason.
    public static func start(
        program: String, arguments: [String] = [], environment: [String], workingDirectory: String = "/",
        umask: UInt32 = 0o022, keepsErrors: Bool = false
    ) throws(SystemError) -> DetachedProcess {
        let number = keepsErrors ? bhl_memory_file("errors") : -1
        let errors = number < 0 ? nil : Descriptor(owning: number)
        var start = bhl_detached()
        start.errors = number
        let path = CStrings([program])
        let directory = CStrings([workingDirectory])
        let argumentList = CStrings([program] + arguments)
        let environmentList = CStrings(environment)
        let core = CoreDumps.limitForPrograms
        withUnsafePointer(to: core ?? rlimit()) { limit in
            start.core = core == nil ? nil : limit
            start.program = UnsafePointer(path.list[0])
            start.directory = UnsafePointer(directory.list[0])
            start.arguments = UnsafePointer(argumentList.list)
            start.environment = UnsafePointer(environmentList.list)
            start.umask = mode_t(umask & 0o777)
            withExtendedLifetime((path, directory, argumentList, environmentList, errors)) {
                bhl_start_detached(&start)
            }
        }
        guard start.error == 0 else {
            throw SystemError(code: start.error, messageStart: messageStart(start.step, program, workingDirectory))
        }
        return DetachedProcess(
            processID: start.process,
            descriptor: start.descriptor >= 0 ? Descriptor(owning: start.descriptor) : nil,
            identity: ProcessIdentity.of(processID: start.process), errors: errors)
    }

    /// The first 4 KiB that the program has written to stderr.
    public var errorText: String { String(decoding: output(atMost: 4_096), as: UTF8.self) }

    /// The first bytes that the program has written to stderr.
    public func output(atMost limit: Int) -> [UInt8] {
        guard let errors else { return [] }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = pread(errors.number, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// Sends SIGKILL to the program and to the other processes of its group. Has no effect after the program has ended.
    public func kill() { identity.flatMap(WatchedProcess.init)?.kill() }

    /// Whether the process has ended. This is read from the pidfd. Without a pidfd, the process id and the start time
    /// are compared.
    public var hasEnded: Bool { waitForEnd(until: .after(milliseconds: 0)) }

    /// Returns true if the process ended before the deadline. Without a pidfd, checks this every 10 ms.
    public func waitForEnd(until deadline: Deadline) -> Bool {
        guard let descriptor else {
            while identity?.isAlive == true {
                if deadline.hasPassed { return false }
                usleep(10_000)
            }
            return true
        }
        var item = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return poll(&item, 1, Int32(clamping: deadline.millisecondsLeft)) > 0
    }

    private static func messageStart(_ step: Int32, _ program: String, _ directory: String) -> String {
        switch bhl_detached_step(UInt32(bitPattern: step)) {
        case BHL_STEP_MEMORY: "no memory for starting \(program)"
        case BHL_STEP_DIRECTORY: "\(program) cannot be started in the directory \(directory)"
        case BHL_STEP_NULL_DEVICE: "\(program) cannot be started without /dev/null"
        case BHL_STEP_PROGRAM: "\(program) cannot be run"
        default: "this process may not start \(program)"
        }
    }

    /// A list of C strings, with NULL at its end.
    private final class CStrings {
        let list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
        private let count: Int

        init(_ strings: [String]) {
            count = strings.count
            list = .allocate(capacity: count + 1)
            for (index, string) in strings.enumerated() { (list + index).initialize(to: strdup(string)) }
            (list + count).initialize(to: nil)
        }

        deinit {
            for index in 0..<count { free(list[index]) }
            list.deallocate()
        }
    }
}
