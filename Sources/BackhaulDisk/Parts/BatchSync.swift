internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Decides how the new files of a batch (jobs that a disk thread performs together) are synced: all together with
/// syncfs(2), or each file separately with fsync(2).
///
/// For many small files, syncfs(2) is much faster, because the file system commits its journal once. In batches of 32
/// files of 16 KiB on a busy disk, 5,000 files took 1.8 s instead of 17 s. But syncfs(2) also writes the dirty pages of
/// other programs, and waits for them. So syncfs(2) is used only while the machine has few dirty pages.
struct BatchSyncDecision {
    /// The smallest batch that is synced together.
    static let minimumFiles = 4
    /// If syncfs(2) is not in use, its use begins again when the other programs have at most this many bytes of dirty
    /// pages.
    static let lowerLimit: UInt64 = 8 << 20
    /// If syncfs(2) is in use, its use ends when the other programs have more than this many bytes of dirty pages.
    static let upperLimit: UInt64 = 32 << 20

    private var isAllowed = true

    /// Returns whether the new files of a batch are synced together. `bytes`: the size of the batch's files. `dirty`:
    /// the bytes of all dirty pages; nil if they are not known.
    mutating func syncsTogether(files: Int, bytes: UInt64, dirty: UInt64?) -> Bool {
        guard let dirty else { return false }
        let others = dirty - min(dirty, bytes)
        isAllowed = others <= (isAllowed ? Self.upperLimit : Self.lowerLimit)
        return isAllowed && files >= Self.minimumFiles
    }
}

/// What the machine and a file system offer for syncs of a batch. Tests replace these functions.
struct BatchSyncSupport: Sendable {
    /// Whether syncfs(2) makes the files of this type of file system durable, and reports errors.
    var isSupported: @Sendable (FileSystemSpace) -> Bool = { isReliable && journaled.contains($0.type) }
    /// The bytes of all dirty pages of the machine; nil if they cannot be read.
    var dirtyBytes: @Sendable () -> UInt64? = { readDirtyBytes() }

    /// ext4, XFS, Btrfs and F2FS (linux/magic.h). FUSE and network file systems may not pass syncfs(2) to their server.
    private static let journaled: Set<Int> = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010]

    /// Whether this is Linux 5.8 or later. In earlier versions, syncfs(2) does not report errors of writes.
    private static let isReliable: Bool = {
        var system = utsname()
        guard uname(&system) == 0 else { return false }
        let release = withUnsafeBytes(of: &system.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return isReliable(release)
    }()

    static func isReliable(_ release: String) -> Bool {
        let numbers = release.split(whereSeparator: { !$0.isNumber }).prefix(2).compactMap { Int($0) }
        guard numbers.count == 2 else { return false }
        return numbers[0] > 5 || numbers[0] == 5 && numbers[1] >= 8
    }

    private static func readDirtyBytes() -> UInt64? {
        let number = open("/proc/meminfo", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        defer { close(number) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(number, &bytes, bytes.count)
        return count > 0 ? dirtyBytes(in: bytes[..<count]) : nil
    }

    /// Parses the line "Dirty:   123 kB" (proc_meminfo(5)).
    static func dirtyBytes(in text: ArraySlice<UInt8>) -> UInt64? {
        let label = Array("Dirty:".utf8)
        guard let line = text.split(separator: 0x0A).first(where: { $0.starts(with: label) }) else { return nil }
        let digits = line.dropFirst(label.count).drop { $0 == 0x20 }.prefix(while: \.isDigit)
        return UInt64(String(decoding: digits, as: UTF8.self)).flatMap { kibibytes in
            let (bytes, overflow) = kibibytes.multipliedReportingOverflow(by: 1_024)
            return overflow ? nil : bytes
        }
    }
}
