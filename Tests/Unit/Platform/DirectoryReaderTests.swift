import Glibc
import Testing

@testable import BackhaulPlatform

@Suite final class DirectoryReaderTests {
    private let path: String

    init() throws {
        var template = Array("/tmp/backhaul-names-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in (try? DirectoryReader.names(in: path)) ?? [] { remove(name) }
        rmdir(path)
    }

    /// Returns the path of an entry, with a zero byte at the end.
    private func entry(_ name: [UInt8]) -> [CChar] {
        (Array(path.utf8) + [UInt8(ascii: "/")] + name + [0]).map { CChar(bitPattern: $0) }
    }

    private func make(_ name: [UInt8]) throws {
        let number = open(entry(name), O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try #require(number >= 0)
        close(number)
    }

    private func remove(_ name: [UInt8]) { unlink(entry(name)) }

    private func sorted(_ names: [[UInt8]]) -> [[UInt8]] { names.sorted { $0.lexicographicallyPrecedes($1) } }

    @Test("names of each possible length are read completely from a directory")
    func lengths() throws {
        let names = (1...255).map { [UInt8](repeating: UInt8(ascii: "n"), count: $0) }
        for name in names { try make(name) }
        #expect(sorted(try DirectoryReader.names(in: path)) == sorted(names))
    }

    @Test("names that are not UTF-8 are returned as bytes, but not as text")
    func bytes() throws {
        let names: [[UInt8]] = [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80, 0x61], Array("ä".utf8), Array("...".utf8)]
        for name in names { try make(name) }
        #expect(sorted(try DirectoryReader.names(in: path)) == sorted(names))
        #expect(Set(try DirectoryReader.textNames(in: path)) == ["ä", "..."])
    }

    @Test("a large directory is read completely, or up to a given limit, or until the caller ends the read")
    func many() throws {
        let names = (0..<5_000).map { Array("entry-\($0)".utf8) }
        for name in names { try make(name) }
        #expect(Set(try DirectoryReader.names(in: path)) == Set(names))
        #expect(try DirectoryReader.names(in: path, limit: 100).count == 100)
        #expect(try DirectoryReader.names(in: path, limit: 0).isEmpty)
        var seen = 0
        try DirectoryReader.read(path) { _ in
            seen += 1
            return seen < 7
        }
        #expect(seen == 7)
    }

    @Test("an empty directory has no names, because . and .. are skipped")
    func empty() throws {
        #expect(try DirectoryReader.names(in: path).isEmpty)
    }

    @Test("if a path is missing or belongs to a regular file, the error of the read has the path and the reason")
    func errors() throws {
        let missing = #expect(throws: SystemError.self) { try DirectoryReader.names(in: self.path + "/none") }
        #expect(missing?.code == ENOENT)
        #expect(missing?.description == "cannot read \(path)/none: No such file or directory")
        try make(Array("file".utf8))
        let file = #expect(throws: SystemError.self) { try DirectoryReader.names(in: self.path + "/file") }
        #expect(file?.code == ENOTDIR)
    }

    @Test("entries that are removed while their directory is read cause no error")
    func vanishing() throws {
        for number in 0..<2_000 { try make(Array("entry-\(number)".utf8)) }
        var read = Set<[UInt8]>()
        try DirectoryReader.read(path) { name in
            // All entries are removed when the first one is read.
            if read.isEmpty { for number in 0..<2_000 { remove(Array("entry-\(number)".utf8)) } }
            return read.insert(name).inserted
        }
        #expect(!read.isEmpty)
        #expect(try DirectoryReader.names(in: path).isEmpty)
        // A removed directory cannot be read. For example, a process's directory in /proc is removed when the process
        // ends.
        #expect(rmdir(path) == 0)
        #expect(throws: SystemError.self) { try DirectoryReader.names(in: self.path) }
    }

    @Test("the descriptor of a directory is closed after each kind of read")
    func descriptors() throws {
        for name in ["a", "b"] { try make(Array(name.utf8)) }
        func stillOpen() -> [String] {
            (try? DirectoryReader.textNames(in: "/proc/self/fd"))?.filter { number in
                var target = [CChar](repeating: 0, count: 4_096)
                let count = readlink("/proc/self/fd/\(number)", &target, target.count)
                return count > 0 && target[..<count].map { UInt8(bitPattern: $0) } == Array(self.path.utf8)
            } ?? []
        }
        _ = try DirectoryReader.names(in: path)
        _ = try DirectoryReader.names(in: path, limit: 1)
        try DirectoryReader.read(path) { _ in false }
        #expect(stillOpen().isEmpty)
        try DirectoryReader.read(path) { _ in
            #expect(stillOpen().count == 1)
            return false
        }
    }

    @Test(
        "only the bytes of an entry's record are read, even if the name has no zero at its end",
        arguments: [1, 4, 5, 255])
    func bounds(length: Int) throws {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let room = try #require(mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        defer { munmap(room, 2 * page) }
        // A read after the end of the first page would crash this process.
        try #require(mprotect(room + page, page, PROT_NONE) == 0)
        let start = try #require(MemoryLayout<dirent>.offset(of: \.d_name))
        let lengthPlace = try #require(MemoryLayout<dirent>.offset(of: \.d_reclen))
        for ending in [[UInt8(0)], []] {
            let record = start + length + ending.count
            let entry = room + page - record
            let name = [UInt8](repeating: UInt8(ascii: "x"), count: length)
            (entry + lengthPlace).copyMemory(from: [UInt16(record)], byteCount: 2)
            (entry + start).copyMemory(from: name + ending, byteCount: length + ending.count)
            #expect(DirectoryReader.name(of: UnsafePointer(entry.assumingMemoryBound(to: dirent.self))) == name)
        }
    }
}
