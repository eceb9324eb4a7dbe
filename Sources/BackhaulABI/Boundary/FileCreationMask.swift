internal import CLinux
internal import Glibc

/// The umask of the host, which is the calling program. It is read from /proc, because a call of umask(2) would change
/// the umask, and this would affect other threads.
enum FileCreationMask {
    /// The umask of most systems. It is used if /proc is not mounted, or if the kernel is older than 4.7.
    static let fallback: UInt32 = 0o022

    /// The umask of the calling thread. A thread may have a umask of its own (unshare(2)).
    static func current() -> UInt32 {
        let descriptor = bhl_open("/proc/thread-self/status", O_RDONLY, 0)
        guard descriptor >= 0 else { return fallback }
        defer { close(descriptor) }
        // "Umask:" is the second line. The name in the first line has at most 64 bytes, so both lines fit into the
        // buffer.
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = read(descriptor, &buffer, buffer.count)
        return count > 0 ? parse(buffer[..<count]) ?? fallback : fallback
    }

    /// The value of the line "Umask:\t0022" (proc_pid_status(5)).
    static func parse(_ status: ArraySlice<UInt8>) -> UInt32? {
        for line in status.split(separator: UInt8(ascii: "\n")) where line.starts(with: "Umask:".utf8) {
            let value = String(decoding: line.dropFirst(6), as: UTF8.self).drop { $0 == "\t" || $0 == " " }
            return UInt32(value, radix: 8)
        }
        return nil
    }
}
