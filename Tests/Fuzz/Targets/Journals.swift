import CLinux
import Glibc

@testable import BackhaulDisk

/// The file in which a store records the lengths of part files.
enum Journals {
    private static let name = "part"

    /// The bytes are the fields of records. The checksums of most records are right, because the fuzzer cannot guess
    /// them.
    @Sendable static func parts(_ bytes: [UInt8]) throws {
        var (input, content) = (FuzzInput(bytes), [UInt8]())
        var expected: [UInt64: [UInt64]] = [:]
        var inodes: Set<UInt64> = []
        while !input.isEmpty {
            let kind = input.byte() % 4
            let (inode, length, checksum) = (input.number(), input.number(), input.number() & 0xFFFF_FFFF)
            let unused = [UInt8](repeating: kind == 1 ? 7 : 0, count: 4)
            let record =
                written(inode, 8) + written(length, 8) + written(sum(Array(name.utf8)), 4) + written(checksum, 4)
                + unused
            let isWrong = kind == 0
            content += record + written(sum(record) ^ (isWrong ? 1 : 0), 4)
            inodes.insert(inode)
            if !isWrong, length > 0 { expected[inode] = [length, checksum] }
        }
        let scratch = try Scratch()
        defer { scratch.remove() }
        let path = scratch.path + "/parts"
        try write(content, to: path)
        let journal = try opened(path)
        try check(journal, inodes, expected, "read")
        for (inode, record) in expected {
            journal.note(inode, name, length: record[0], checksum: UInt32(truncatingIfNeeded: record[1]))
        }
        try check(opened(path), inodes, expected, "written and read again")
    }

    private static func check(
        _ journal: PartJournal, _ inodes: Set<UInt64>, _ expected: [UInt64: [UInt64]], _ what: String
    ) throws {
        for inode in inodes {
            let found = journal.record(of: inode, name).map { [$0.length, UInt64($0.checksum)] }
            try requireEqual(found, expected[inode], "the record of the inode \(inode), \(what)")
        }
    }

    private static func opened(_ path: String) throws -> PartJournal {
        guard let journal = PartJournal(path: path) else {
            throw Violation(description: "the journal cannot be opened")
        }
        return journal
    }

    private static func write(_ content: [UInt8], to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let count = Glibc.write(file, content, content.count)
        try require(count == content.count, "/dev/shm has no room for a file")
    }

    /// The last bytes of the number, in the order little-endian.
    private static func written(_ number: UInt64, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private static func sum(_ bytes: [UInt8]) -> UInt64 { UInt64(bhl_crc32c(0, bytes, bytes.count)) }
}
