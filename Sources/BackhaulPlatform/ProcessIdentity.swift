internal import CLinux
internal import Glibc

/// The identity of a process. A later process with the same id has another identity.
public struct ProcessIdentity: Equatable, Hashable, Sendable {
    public var processID: Int32
    /// The start time in clock ticks after boot, from /proc/PID/stat.
    public var startTime: UInt64
    /// The boot's id, from /proc/sys/kernel/random/boot_id.
    public var bootID: String

    public init(processID: Int32, startTime: UInt64, bootID: String) {
        self.processID = processID
        self.startTime = startTime
        self.bootID = bootID
    }

    public static var current: ProcessIdentity {
        // If /proc is hidden, the process id is the only identity.
        of(processID: getpid()) ?? ProcessIdentity(processID: getpid(), startTime: 0, bootID: currentBootID)
    }

    /// Returns nil if no process has the id.
    public static func of(processID: Int32) -> ProcessIdentity? {
        guard let startTime = startTime(of: processID) else { return nil }
        return ProcessIdentity(processID: processID, startTime: startTime, bootID: currentBootID)
    }

    /// Whether a process has the id. A zombie counts as a process. The function does not read /proc, so it also works
    /// when no descriptor is free.
    public static func exists(_ processID: Int32) -> Bool { kill(processID, 0) == 0 || bhl_errno() == EPERM }

    /// If the status of the process is there, but cannot be read, for example because no descriptor is free, the result
    /// is true: a living process that is taken for ended would lose what belongs to it.
    public var isAlive: Bool {
        guard [bootID, ""].contains(Self.currentBootID) else { return false }
        if Self.statusFields(of: processID) == nil, access("/proc/\(processID)/stat", F_OK) == 0 { return true }
        return Self.startTime(of: processID) == startTime
    }

    private static let knownBootID = Lock<String?>(nil)

    /// Empty while the id cannot be read.
    public static var currentBootID: String {
        knownBootID.withLock { known in
            known = known ?? readBootID()
            return known ?? ""
        }
    }

    private static func readBootID() -> String? {
        #if DEBUG
        // With this variable, tests simulate a reboot.
        if let boot = getenv("BACKHAUL_BOOT") { return String(cString: boot) }
        #endif
        return readSmallFile("/proc/sys/kernel/random/boot_id").map { String($0.prefix { $0 != "\n" }) }
    }

    /// Whether a signal or a debugger has stopped the process, or a control group has frozen it.
    public static func isStopped(processID: Int32) -> Bool {
        let state = statusFields(of: processID)?.first
        return state == "T" || state == "t" || ControlGroup.isFrozen(processID: processID)
    }

    private static func startTime(of processID: Int32) -> UInt64? {
        guard let fields = statusFields(of: processID) else {
            // Without /proc, for example in a chroot, it is only known whether some process has the id.
            let hasProc = access("/proc/self/stat", F_OK) == 0
            return !hasProc && exists(processID) ? 0 : nil
        }
        // A zombie has ended, although its parent has not reaped it yet.
        guard fields.count > 19, fields[0] != "Z", fields[0] != "X" else { return nil }
        return UInt64(fields[19])
    }

    /// The fields of /proc/PID/stat, without the first two. The first returned field is the state (proc(5)).
    private static func statusFields(of processID: Int32) -> [Substring]? {
        readSmallFile("/proc/\(processID)/stat").flatMap(fields(ofStatus:))
    }

    static func fields(ofStatus text: String) -> [Substring]? {
        // The name in parentheses may have spaces and parentheses, so the fields are counted after the last ')'. Bytes
        // are searched, because the ')' and the end of the name may be one Character.
        guard let end = text.utf8.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        return text[text.utf8.index(after: end)...].split(separator: " ")
    }
}

/// Reads a whole file of /proc or of control groups. Nil if it cannot be read or is larger than 64 KiB. A truncated
/// file is not returned, because a truncated path or number could be read as another path or number.
func readSmallFile(_ path: String) -> String? {
    let largest = 64 << 10
    let number = bhl_open(path, O_RDONLY, 0)
    guard number >= 0 else { return nil }
    defer { close(number) }
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while content.count <= largest {
        let count = read(number, &buffer, buffer.count)
        if count < 0, bhl_errno() == EINTR { continue }
        guard count >= 0 else { return nil }
        if count == 0 { return String(decoding: content, as: UTF8.self) }
        content += buffer[..<count]
    }
    return nil
}
