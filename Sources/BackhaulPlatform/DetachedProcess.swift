internal import CLinux
internal import Glibc

/// A program that was started as nobody's child: it outlives this process, in a session and process group of its own,
/// and this process gets neither SIGCHLD nor a child to reap. Where this process is pid 1 of its namespace or a
/// subreaper (prctl(2)) the kernel makes it the parent all the same.
///
/// The program begins with default signals, standard descriptors on /dev/null and no other descriptor.
///
/// Unsafe: the C strings live as long as the call that uses them.
public struct DetachedProcess: Sendable {
    public let processID: Int32
    /// A pidfd, readable from the process's end on; nil where the kernel (before 5.3) or a filter has none to give.
    public let descriptor: Descriptor?
    private let identity: ProcessIdentity?

    /// Returns once the program runs. From any thread, which waits meanwhile, for about a millisecond.
    ///
    /// - program: absolute path.
    /// - arguments: those after the program's own name.
    /// - environment: the whole of it, `NAME=value`.
    /// - umask: 022 unless given: that of a program's user, not of this process, which may be anything.
    ///
    /// Throws what could not be done and the kernel's reason.
    public static func start(
        program: String, arguments: [String] = [], environment: [String], workingDirectory: String = "/",
        umask: UInt32 = 0o022
    ) throws(SystemError) -> DetachedProcess {
        var start = bhl_detached()
        let path = CStrings([program])
        let directory = CStrings([workingDirectory])
        let argumentList = CStrings([program] + arguments)
        let environmentList = CStrings(environment)
        withExtendedLifetime((path, directory, argumentList, environmentList)) {
            start.program = UnsafePointer(path.list[0])
            start.directory = UnsafePointer(directory.list[0])
            start.arguments = UnsafePointer(argumentList.list)
            start.environment = UnsafePointer(environmentList.list)
            start.umask = mode_t(umask & 0o777)
            bhl_start_detached(&start)
        }
        guard start.error == 0 else {
            throw SystemError(code: start.error, attempt: attempt(start.step, program, workingDirectory))
        }
        return DetachedProcess(
            processID: start.process,
            descriptor: start.descriptor >= 0 ? Descriptor(owning: start.descriptor) : nil,
            identity: ProcessIdentity.of(processID: start.process))
    }

    /// Asks the kernel; without a pidfd by number and start time.
    public var hasEnded: Bool { waitForEnd(until: .after(milliseconds: 0)) }

    /// True when it ended before the deadline.
    public func waitForEnd(until deadline: Deadline) -> Bool {
        guard let descriptor, descriptor.isOurs else { return identity.map { !$0.isAlive } ?? true }
        var item = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return poll(&item, 1, Int32(clamping: deadline.millisecondsLeft)) > 0
    }

    private static func attempt(_ step: Int32, _ program: String, _ directory: String) -> String {
        switch bhl_detached_step(UInt32(bitPattern: step)) {
        case BHL_STEP_MEMORY: "no memory for starting \(program)"
        case BHL_STEP_DIRECTORY: "\(program) cannot be started in the directory \(directory)"
        case BHL_STEP_NULL_DEVICE: "\(program) cannot be started without /dev/null"
        case BHL_STEP_PROGRAM: "\(program) cannot be run"
        default: "this process may not start \(program)"
        }
    }

    /// Copies for C, ending with NULL.
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
