internal import BackhaulPlatform
internal import Glibc

/// The permission bits that a file of the host gets when it asks for none.
public enum FileMode {
    /// 0666 less the process's umask. Read from /proc/self/status (proc(5)): umask(2) can only be read by changing it,
    /// under the feet of the host's other threads.
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
