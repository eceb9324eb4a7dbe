internal import CLinux
internal import Glibc

/// A failed system call: its errno, and the start of a message, such as "cannot make a socket".
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    public var code: Int32
    public var messageStart: String
    /// Whether the limit of watches is reached (epoll(7), max_user_watches). The code is then ENOSPC, which also means
    /// a full disk.
    public var lacksWatches = false
    /// Whether the file system has no free inode. The code is then ENOSPC, although there may be free space.
    public var lacksInodes = false

    public init(code: Int32, messageStart: String) {
        self.code = code
        self.messageStart = messageStart
    }

    /// The error of the call that has just failed on this thread.
    public static func last(_ messageStart: String) -> SystemError {
        SystemError(code: bhl_errno(), messageStart: messageStart)
    }

    /// The text of the code, such as "No space left on device".
    public var reason: String { SystemError.reason(of: code) }

    /// The error of a descriptor that cannot be watched.
    public static func watch(code: Int32) -> SystemError {
        var error = SystemError(code: code, messageStart: "cannot watch a descriptor")
        error.lacksWatches = code == ENOSPC
        return error
    }

    /// Whether the process or the machine lacks what the call needs: descriptors, watches or memory.
    public var isExhaustion: Bool { lacksWatches || [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(code) }

    /// What the user can do about an exhaustion.
    public var advice: String {
        if lacksWatches { return "raise the limit fs.epoll.max_user_watches" }
        return code == EMFILE || code == ENFILE ? "raise the limit of open files (ulimit -n)" : "free some memory"
    }

    public static func reason(of code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        bhl_strerror(code, &buffer, buffer.count)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    public var description: String { "\(messageStart): \(reason)" }
}
