internal import CLinux
internal import Glibc

/// A system call that failed: its errno and what was attempted, as a clause that can end a sentence.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    public var code: Int32
    public var attempt: String

    public init(code: Int32, attempt: String) {
        self.code = code
        self.attempt = attempt
    }

    /// The error of the call that has just failed on this thread.
    public static func last(_ attempt: String) -> SystemError {
        SystemError(code: bhl_errno(), attempt: attempt)
    }

    /// "No space left on device"
    public var reason: String { SystemError.reason(of: code) }

    /// The process or the machine has no more of what the call needs: descriptors or memory.
    public var isExhaustion: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(code) }

    public static func reason(of code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        bhl_strerror(code, &buffer, buffer.count)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    public var description: String { "\(attempt): \(reason)" }
}
