internal import BackhaulPlatform
internal import Glibc

/// The permission bits of a file whose request does not state them.
public enum FileMode {
    /// 0666 without the bits of the process's umask. The umask is read from /proc/self/status (proc(5)): umask(2) would
    /// change the umask for a moment, and the process's other threads would use the changed umask.
    public static var defaultOfProcess: UInt32 { 0o666 & ~(umask ?? 0o022) }

    private static var umask: UInt32? {
        let files = FileSystem()
        var buffer = [UInt8](repeating: 0, count: 4096)
        guard let file = try? files.openForReading("/proc/self/status"),
            let count = try? files.read(file.number, into: &buffer, at: 0)
        else { return nil }
        let label = Array("Umask:".utf8)
        for line in buffer[..<count].split(separator: UInt8(ascii: "\n")) where line.starts(with: label) {
            let digits = line.dropFirst(label.count).filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "7") }
            return UInt32(String(decoding: digits, as: UTF8.self), radix: 8)
        }
        return nil
    }
}
