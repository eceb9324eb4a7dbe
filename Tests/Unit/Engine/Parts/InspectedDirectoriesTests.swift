import BackhaulModel
import Testing

@testable import BackhaulEngine

@Suite("Directories that were inspected for a client")
struct InspectedDirectoriesTests {
    private func destination(_ path: String, inode: UInt64 = 1) -> Destination {
        Destination(path: path, directoryDevice: 1, directoryInode: inode)
    }

    private func directory(of path: String, inode: UInt64 = 1) -> InspectedDirectories.Identity {
        InspectedDirectories.Identity(destination(path, inode: inode))
    }

    @Test("another file in an inspected directory needs no inspection until one second after the inspection")
    func expiry() {
        var directories = InspectedDirectories()
        #expect(!directories.contains(directory(of: "/a/1"), at: 5_000))
        directories.insert([destination("/a/1")], on: ["ext4 1 /"], at: 5_000)
        #expect(directories.contains(directory(of: "/a/2"), at: 5_999))
        #expect(directories.fileSystem(of: directory(of: "/a/2")) == "ext4 1 /")
        #expect(!directories.contains(directory(of: "/a/2"), at: 6_000))
        directories.insert([destination("/a/2")], on: [nil], at: 6_000)
        #expect(directories.contains(directory(of: "/a/3"), at: 6_999))
    }

    @Test("a directory that was replaced, or that the client names by another path, needs an inspection")
    func identity() {
        var directories = InspectedDirectories()
        directories.insert([destination("/a/1")], on: ["ext4 1 /"], at: 0)
        #expect(!directories.contains(directory(of: "/a/1", inode: 2), at: 0))
        #expect(!directories.contains(directory(of: "/b/1"), at: 0))
    }

    @Test("a client that enqueues into many directories uses a bounded amount of memory")
    func bound() {
        var directories = InspectedDirectories()
        let all = (0...InspectedDirectories.maximumCount).map { destination("/\($0)/file") }
        directories.insert(all, on: all.map { _ in nil }, at: 0)
        let found = all.map(InspectedDirectories.Identity.init).filter { directories.contains($0, at: 0) }
        #expect((1...InspectedDirectories.maximumCount).contains(found.count))
        #expect(directories.contains(.init(all[all.count - 1]), at: 0))
    }
}
