internal import CLinux
internal import Glibc

/// The space of a file system.
struct FileSystemSpace {
    /// The upper limit of `reserve`, in bytes. Downloads keep `reserve` bytes free for other writers, such as
    /// databases, logs and the store, because a full disk harms those writers more than it harms a download.
    private static let largestReserve: UInt64 = 32 << 20
    private static let reserveDivisor: UInt64 = 100

    /// The size of the file system in bytes; 0 if the file system does not report it.
    let total: UInt64
    /// How many bytes this user may still write. Quotas are not considered.
    private(set) var available: UInt64
    let reserve: UInt64
    /// The type of the file system (linux/magic.h).
    let type: Int
    /// The longest name of a file, in bytes; 0 if the file system does not report it.
    let nameLength: Int
    /// Whether new files can be made. Some file systems have no fixed number of inodes, and report 0 inodes in total.
    let hasFreeInodes: Bool

    init(_ status: statfs) {
        let blockSize = UInt64(clamping: status.f_frsize > 0 ? status.f_frsize : status.f_bsize)
        func bytes(_ blocks: UInt64) -> UInt64 {
            let (bytes, overflow) = blocks.multipliedReportingOverflow(by: blockSize)
            return overflow ? .max : bytes
        }
        total = bytes(UInt64(status.f_blocks))
        available = bytes(UInt64(status.f_bavail))
        reserve = min(Self.largestReserve, total / Self.reserveDivisor)
        type = Int(status.f_type)
        nameLength = Int(status.f_namelen)
        hasFreeInodes = status.f_files == 0 || status.f_ffree > 0
    }

    /// ext4, XFS, Btrfs, F2FS, tmpfs, ZFS, bcachefs and overlayfs: names are bytes.
    private static let native: Set<Int> = [
        0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x0102_1994, 0x2FC1_2FC1, 0xCA45_1A4E, 0x794C_7630,
    ]
    var acceptsAllNames: Bool { Self.native.contains(type) }

    /// FAT, exFAT, NTFS, FUSE, CIFS, SMB 2 and 9P: the mount options may choose the owner of all files.
    private static let ownerless: Set<Int> = [
        0x4D44, 0x2011_BAB0, 0x7366_746E, 0x6573_5546, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997,
    ]
    var choosesOwners: Bool { Self.ownerless.contains(type) }

    /// Returns false if a file of this size is larger than the whole file system.
    func isLargeEnough(_ size: UInt64) -> Bool { total == 0 || size <= total }

    func without(_ bytes: UInt64) -> FileSystemSpace {
        var rest = self
        rest.available -= min(bytes, available)
        return rest
    }

    /// Returns whether this many bytes can be written while the reserve stays free.
    func fits(_ count: UInt64) -> Bool {
        // The reserve is 0 if the file system does not report its size. Then the space is not checked, and a write
        // fails if the disk is full.
        available >= reserve && available - reserve >= count || reserve == 0
    }
}
