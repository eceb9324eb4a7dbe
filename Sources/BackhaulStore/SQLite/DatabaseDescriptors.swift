internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The files that SQLite opened for the database and its log, and their descriptors. If a host closes these descriptors
/// by mistake, another file may get their numbers, and a checkpoint would damage that file and lose the log. So the
/// engine checks the descriptors before each checkpoint. `ForkGuard` closes their copies in forked children.
///
/// If one of the files was removed or replaced, all writes to the old file are lost when the last descriptor of that
/// file is closed.
struct DatabaseDescriptors {
    fileprivate struct File: Equatable {
        var device: UInt64
        var inode: UInt64
    }

    private let directory: Descriptor
    private let names: [String]
    /// For each name, the file that had this name when this struct was initialised. Nil if no file had the name.
    private let named: [File?]
    private var files: [Int32: File] = [:]

    /// Finds the files among this process's descriptors, because SQLite does not report the numbers of its descriptors.
    init(directory: Descriptor, names: [String]) {
        self.directory = directory
        self.names = names
        named = names.map { Self.file(named: $0, in: directory) }
        // The list needs no limit: the kernel limits the number of descriptors.
        for name in (try? DirectoryReader.textNames(in: "/proc/self/fd", limit: .max)) ?? [] {
            guard let number = Int32(name), let file = Self.file(number), named.contains(file) else { continue }
            files[number] = file
            ForkGuard.add(number)
        }
    }

    func excludeFromForkGuard() { for number in files.keys { ForkGuard.remove(number) } }

    var areUnchanged: Bool { files.allSatisfy { number, file in Self.file(number) == file } }

    /// The name of a file that was removed, or that another file has replaced. Nil if there is no such file.
    var lostName: String? {
        for (name, file) in zip(names, named) where file != nil && Self.file(named: name, in: directory) != file {
            return name
        }
        return nil
    }

    /// Whether another file has this name now.
    func isNameReplaced(_ name: String) -> Bool {
        guard let found = Self.file(named: name, in: directory) else { return false }
        return !named.contains(found)
    }

    private static func file(named name: String, in directory: Descriptor) -> File? {
        var status = stat()
        return fstatat(directory.number, name, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0 ? File(status) : nil
    }

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
