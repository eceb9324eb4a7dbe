import Testing

@testable import BackhaulDisk

@Suite("The file system of a path")
struct MountTableTests {
    private static let text = """
        22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        30 22 8:17 / /mnt rw - ext4 /dev/sdb1 rw
        31 30 8:33 / /mnt/a\\040disk rw master:1 - ext4 /dev/sdc1 rw
        32 22 0:40 / /mnt rw - fuse.sshfs host: rw

        33 22 nonsense
        """

    private func device(_ path: String) -> UInt64? {
        MountTable.find(path, in: MountTable.parse(Array(Self.text.utf8)))
    }

    @Test(
        "a path belongs to its longest mount point; of two equal mount points, the later one counts",
        arguments: [
            ("/", 0x801), ("/home/me", 0x801), ("/mntx/file", 0x801), ("/mnt", 40), ("/mnt/file", 40),
            ("/mnt/a disk", 0x821), ("/mnt/a disk/file", 0x821), ("/mnt/a diskette", 40),
        ] as [(String, UInt64)])
    func longest(path: String, expected: UInt64) {
        #expect(device(path) == expected)
    }

    @Test(
        "a mount is found by its id; the name of a block device is left out, because it changes with each plug",
        arguments: [
            (22, MountTable.Entry(type: "ext4", source: "", root: "/")),
            (32, MountTable.Entry(type: "fuse.sshfs", source: "host:", root: "/")),
            (33, nil), (7, nil),
        ] as [(Int64, MountTable.Entry?)])
    func entry(mount: Int64, expected: MountTable.Entry?) {
        #expect(MountTable.entry(mount, in: Array(Self.text.utf8)) == expected)
    }

    @Test("if no mount point is above a path, as in a chroot, the file system of the path is unknown")
    func unknown() {
        #expect(MountTable.find("/a", in: []) == nil)
        #expect(MountTable.find("/a", in: MountTable.parse(Array("22 1 8:1 / /proc rw - proc proc rw".utf8))) == nil)
    }
}
