internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Finds the file system of a path from the list of mounts. It does not access the path, because the file system may
/// not respond. For a path with symbolic links, the result may be wrong. In this case, the work on the path uses the
/// threads of another file system. A wrong result has no other effect.
struct MountTable {
    private var mounts: [(point: [UInt8], device: UInt64)] = []
    private var readAt: Int64 = 0

    private static let cacheMilliseconds: Int64 = 1_000

    /// Returns the device of the path's file system, or nil if no mount point of the path is known, as in a chroot.
    mutating func device(of path: String) -> UInt64? {
        update()
        return Self.find(path, in: mounts)
    }

    /// Whether the list has a mount of this device. A directory in a subvolume of Btrfs has another device than its
    /// mount.
    mutating func hasMount(of device: UInt64) -> Bool {
        update()
        return mounts.contains { $0.device == device }
    }

    private mutating func update() {
        let now = Clock.bootMilliseconds
        guard mounts.isEmpty || readAt + Self.cacheMilliseconds <= now else { return }
        mounts = Self.text.map(Self.parse) ?? mounts
        readAt = now
    }

    static func find(_ path: String, in mounts: [(point: [UInt8], device: UInt64)]) -> UInt64? {
        var best: (length: Int, device: UInt64)?
        for mount in mounts where mount.point.count >= best?.length ?? 0 {
            let rest = path.utf8.dropFirst(mount.point.count)
            let isBelow = mount.point == [0x2F] || rest.isEmpty || rest.first == 0x2F
            if isBelow, path.utf8.starts(with: mount.point) { best = (mount.point.count, mount.device) }
        }
        return best?.device
    }

    struct Entry: Equatable {
        /// The type of the file system, such as "ext4".
        var type: String
        /// The device, or the server's name of a network share. The name of a block device changes with each plug, so
        /// it is left out.
        var source: String
        /// The directory of the file system that is mounted.
        var root: String
    }

    /// Finds a mount by its id. The fields after the hyphen are the type and the source.
    static func entry(_ mount: Int64, in text: [UInt8]) -> Entry? {
        for line in text.split(separator: 0x0A) {
            let fields = line.split(separator: 0x20)
            guard fields.count > 6, String(decoding: fields[0], as: UTF8.self) == String(mount),
                let hyphen = fields.firstIndex(of: [0x2D]), hyphen + 2 < fields.count
            else { continue }
            let words = [hyphen + 1, hyphen + 2, 3].map { String(decoding: unescaped(fields[$0]), as: UTF8.self) }
            let source = words[1].hasPrefix("/dev/") ? "" : words[1]
            return Entry(type: words[0], source: source, root: words[2])
        }
        return nil
    }

    /// Parses the lines of proc_pid_mountinfo(5): "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw".
    static func parse(_ text: [UInt8]) -> [(point: [UInt8], device: UInt64)] {
        text.split(separator: 0x0A).compactMap { line in
            let fields = line.split(separator: 0x20, maxSplits: 5)
            guard fields.count > 4 else { return nil }
            let numbers = fields[2].split(separator: 0x3A).compactMap { UInt32(String(decoding: $0, as: UTF8.self)) }
            guard numbers.count == 2 else { return nil }
            return (unescaped(fields[4]), bhl_make_device(numbers[0], numbers[1]))
        }
    }

    /// Decodes spaces, tabs, line ends and backslashes, which the kernel writes as octal numbers.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var (unescaped, rest) = ([UInt8](), field)
        while let byte = rest.popFirst() {
            guard byte == 0x5C, let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8) else {
                unescaped.append(byte)
                continue
            }
            unescaped.append(code)
            rest = rest.dropFirst(3)
        }
        return unescaped
    }

    /// The list of mounts; nil if it cannot be read.
    static var text: [UInt8]? {
        let number = bhl_open("/proc/self/mountinfo", O_RDONLY, 0)
        guard number >= 0 else { return nil }
        defer { close(number) }
        var (text, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 16_384))
        while true {
            let count = read(number, &chunk, chunk.count)
            if count <= 0 { return count == 0 ? text : nil }
            text += chunk[..<count]
        }
    }
}
