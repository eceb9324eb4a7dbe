internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The descriptors that SQLite opened for the database and its log. A host that closes every descriptor it finds may
/// get their numbers for files of its own; SQLite would then write its pages into those. Kept from forked children.
struct DatabaseDescriptors {
    fileprivate struct File: Equatable {
        var device: UInt64
        var inode: UInt64
    }

    private var files: [Int32: File] = [:]

    /// Finds them among this process's descriptors: SQLite does not tell their numbers.
    init(directory: Descriptor, names: [String]) {
        let wanted = names.compactMap { name in
            var status = stat()
            return fstatat(directory.number, name, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0 ? File(status) : nil
        }
        guard !wanted.isEmpty else { return }
        // Without a limit: the kernel bounds how many descriptors there are.
        for name in (try? DirectoryReader.textNames(in: "/proc/self/fd", limit: .max)) ?? [] {
            guard let number = Int32(name), let file = Self.file(number), wanted.contains(file) else { continue }
            files[number] = file
            ForkGuard.add(number)
        }
    }

    func leaveToForkedChildren() { for number in files.keys { ForkGuard.remove(number) } }

    var areOurs: Bool { files.allSatisfy { number, file in Self.file(number) == file } }

    private static func file(_ number: Int32) -> File? {
        var status = stat()
        return fstat(number, &status) == 0 ? File(status) : nil
    }
}

extension DatabaseDescriptors.File {
    fileprivate init(_ status: stat) {
        var status = status
        device = bhl_device(&status)
        inode = UInt64(status.st_ino)
    }
}
