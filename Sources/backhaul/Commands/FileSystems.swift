import CLinux
import Glibc

/// The types of file systems, by their names in the kernel, such as "ext4".
enum FileSystems {
    static let network: Set = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "9p", "fuse.sshfs", "fuse.glusterfs",
        "ocfs2", "gfs2", "lustre",
    ]

    /// The type of the file system at a path (proc(5), /proc/PID/mountinfo).
    static func kind(of path: String) -> String? {
        guard let real = try? Paths.resolved(path), let file = fopen("/proc/self/mountinfo", "r") else { return nil }
        defer { fclose(file) }
        var best: (length: Int, kind: String)?
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        // Unsafe: getline allocates the buffer, which is freed when this function returns.
        defer { free(line) }
        while getline(&line, &room, file) > 0, let text = line {
            let halves = split(String(cString: text))
            guard let halves, isBelow(real, halves.mountPoint) else { continue }
            // If two file systems are mounted at the same directory, the later mount hides the earlier mount.
            if best.map({ halves.mountPoint.utf8.count >= $0.length }) ?? true {
                best = (halves.mountPoint.utf8.count, halves.kind)
            }
        }
        return best?.kind
    }

    private static func split(_ line: String) -> (mountPoint: String, kind: String)? {
        let words = line.split(separator: " ")
        guard words.count > 6, let mark = words.firstIndex(of: "-"), mark + 1 < words.count else { return nil }
        return (unescaped(words[4]), String(words[mark + 1]))
    }

    private static func isBelow(_ path: String, _ mountPoint: String) -> Bool {
        mountPoint == "/" || path == mountPoint || path.hasPrefix(mountPoint + "/")
    }

    /// Decodes the octal escapes of mountinfo, which stand for blanks and backslashes.
    private static func unescaped(_ word: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(word.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
