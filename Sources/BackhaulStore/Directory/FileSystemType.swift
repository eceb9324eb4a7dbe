internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// A type of file system, by its magic number (statfs(2), linux/magic.h). It shows whether the store's directory is on
/// another machine.
struct FileSystemType: Equatable, Sendable {
    var magic: UInt32

    /// Returns the type of the file system of an open file, or nil if the kernel does not report it.
    static func of(_ descriptor: Descriptor) -> FileSystemType? {
        var status = statfs()
        guard fstatfs(descriptor.number, &status) == 0 else { return nil }
        return FileSystemType(magic: UInt32(truncatingIfNeeded: status.f_type))
    }

    /// The name of the file system if its files are on another machine. On such a file system, a lock does not exclude
    /// the processes of other machines. Nil for local file systems, and for FUSE, which does not report where its files
    /// are.
    var networkName: String? { Self.network[magic] }

    private static let network: [UInt32: String] = [
        0x6969: "NFS",
        0x517B: "SMB",
        0xFF53_4D42: "CIFS",
        0xFE53_4D42: "SMB",
        0x5346_414F: "AFS",
        0x6B41_4653: "AFS",
        0x00C3_6400: "Ceph",
        0x7375_7245: "Coda",
        0x564C: "NCP",
        0x0102_1997: "9P",
        0x0BD0_0BD0: "Lustre",
        0x0116_1970: "GFS2",
        0x7461_636F: "OCFS2",
        0x4750_4653: "GPFS",
        0xAAD7_AAEA: "PanFS",
        0x1983_0326: "BeeGFS",
        0x2003_0528: "OrangeFS",
        0x786F_4256: "a folder shared by VirtualBox",
        0xBACB_ACBC: "a folder shared by VMware",
        0x7C7C_6673: "a folder shared by Parallels",
    ]
}
