import BackhaulModel
import Testing

/// A directory can have several paths, for example because of symbolic links. The library stores the known paths.
@Suite("Directories with several paths")
struct DirectoryAliasesTests {
    private func destination(_ path: String, device: UInt64 = 1, inode: UInt64 = 2) -> Destination {
        Destination(path: path, directoryDevice: device, directoryInode: inode)
    }

    @Test("a file has one path for each known path of its directory")
    func others() {
        var aliases = DirectoryAliases()
        #expect(aliases.others(of: destination("/a/x")).isEmpty)
        #expect(aliases.others(of: destination("/a/y")).isEmpty)
        #expect(aliases.others(of: destination("/b/x")) == ["/a/x"])
        #expect(aliases.others(of: destination("/a/x")) == ["/b/x"])
        #expect(aliases.others(of: destination("/b/x")) == ["/a/x"])
        #expect(aliases.others(of: destination("/x")) == ["/a/x", "/b/x"])
        #expect(aliases.others(of: destination("/a/z")) == ["/b/z", "/z"])
        #expect(aliases.others(of: destination("/c/x", inode: 3)).isEmpty)
        #expect(aliases.others(of: destination("/c/x", device: 3)).isEmpty)
    }

    @Test("the number of stored paths of directories is limited")
    func bounded() {
        var aliases = DirectoryAliases()
        for number in 0..<100 { _ = aliases.others(of: destination("/\(number)/x")) }
        #expect(aliases.others(of: destination("/new/x")).count <= 8)
        for number in 0..<10_000 { _ = aliases.others(of: destination("/\(number)/x", inode: UInt64(number) + 10)) }
        #expect(aliases.others(of: destination("/other/x", inode: 10_009)) == ["/9999/x"])
    }
}
