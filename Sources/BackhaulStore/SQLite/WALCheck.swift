internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Checks whether the log that a killed process has left is damaged (https://www.sqlite.org/fileformat.html#walformat),
/// and makes sure that it is on the disk.
///
/// SQLite reads a log up to the first frame that does not match its checksum, because a power loss may have cut the
/// last transaction there. SQLite ignores the rest of the log without an error. But a transaction begins only after the
/// previous transaction is synced. So a power loss can damage only the last transaction in the log. If two transactions
/// end at or after the frame that does not match, the frame was not in the last transaction. So the frame was complete
/// on the disk, and was damaged later.
struct WALCheck {
    private static let headerSize = 32
    private static let frameHeaderSize = 24

    // The buffer for one frame with its header.
    private var frame: [UInt8]
    private let file: Descriptor
    private let salts: UInt64
    private let isLittleEndian: Bool
    private let count: Int

    /// Throws storeDamaged if the log is damaged, because SQLite would ignore the rest of the log without an error.
    /// Also throws if the log cannot be read or synced.
    static func refuseDamage(_ directory: StoreDirectory) throws(Failure) {
        guard let file = try directory.openIfPresent(Schema.walName, O_RDWR) else { return }
        let frame: Int?
        do throws(SystemError) {
            frame = try damagedFrame(file)
            if frame == nil { try writeAgain(file) }
        } catch {
            throw directory.fileFailure(Schema.walName, error.code)
        }
        if let frame {
            throw .damaged("frame \(frame) of its log does not match its checksum, and transactions follow")
        }
    }

    /// Writes the log's bytes again, and syncs them. If a sync fails, the kernel may keep bytes in memory that are not
    /// on the disk, and does not write them in a later sync (fsync(2)). The engine of a failed sync ends. The next
    /// engine would add frames behind those bytes, and a power loss would leave a gap in the log.
    private static func writeAgain(_ file: Descriptor) throws(SystemError) {
        var bytes = [UInt8](repeating: 0, count: 1 << 18)
        var end: off_t = 0
        while true {
            let count = try read(file, &bytes, at: end)
            guard count > 0 else { break }
            do throws(SystemError) {
                try file.write(bytes[..<count], at: Int(end))
            } catch where [ENOSPC, EDQUOT].contains(error.code) {
                // A file system that never overwrites may have no space for the same bytes.
            }
            end += off_t(count)
        }
        if end > 0, fdatasync(file.number) != 0 { throw .last("cannot sync") }
    }

    /// Returns the number of bytes that were read, which is less than the size of the buffer at the end of the file.
    private static func read(_ file: Descriptor, _ bytes: inout [UInt8], at place: off_t) throws(SystemError) -> Int {
        let count = pread(file.number, &bytes, bytes.count, place)
        if count < 0 { throw .last("cannot read") }
        return count
    }

    /// Returns the number of the first damaged frame. The first frame of the log has the number 1, and the header of
    /// the log has the number 0. Returns nil when no frame is damaged.
    private static func damagedFrame(_ file: Descriptor) throws(SystemError) -> Int? {
        var status = stat()
        var head = [UInt8](repeating: 0, count: headerSize)
        guard fstat(file.number, &status) == 0 else { throw .last("cannot look at") }
        guard try read(file, &head, at: 0) == headerSize, head.contains(where: { $0 != 0 }) else { return nil }
        let magic = head.word(0)
        let pageSize = Int(head.word(8))
        var sum = Checksum(isLittleEndian: magic == 0x377F_0682)
        sum.add(head[..<24])
        // SQLite syncs the header before it writes the first frame.
        guard magic & ~1 == 0x377F_0682, (512...65_536).contains(pageSize), sum.matches(head, at: 24) else { return 0 }
        let count = (Int(status.st_size) - headerSize) / (frameHeaderSize + pageSize)
        var check = WALCheck(
            frame: [UInt8](repeating: 0, count: frameHeaderSize + pageSize), file: file, salts: head.doubleWord(16),
            isLittleEndian: sum.isLittleEndian, count: count)
        return try check.damagedFrame(after: sum)
    }

    private mutating func damagedFrame(after header: Checksum) throws(SystemError) -> Int? {
        var sum = header
        var number = 1
        while number <= count, try read(number), isNext(&sum) { number += 1 }
        guard number < count, try hasTwoTransactions(from: number) else { return nil }
        return number
    }

    /// Returns whether the frames from `first` on contain a sequence in which all checksums match and two transactions
    /// end. The checksum of frame `first` itself is not checked.
    private mutating func hasTwoTransactions(from first: Int) throws(SystemError) -> Bool {
        var sum = Checksum(isLittleEndian: isLittleEndian)
        var ends = 0
        for number in first...count {
            guard try read(number) else { return false }
            if number > first, !isNext(&sum) { ends = 0 }
            sum.set(frame, at: 16)
            // Frames of earlier logs do not count. They have other salts (numbers in the header of the log). But the
            // salts of the first frame may be what was damaged.
            guard number == first || frame.doubleWord(8) == salts else { continue }
            if frame.word(4) != 0 { ends += 1 }
            if ends == 2 { return true }
        }
        return false
    }

    /// Returns whether the frame in the buffer follows the frames that `sum` covers.
    private func isNext(_ sum: inout Checksum) -> Bool {
        guard frame.word(0) != 0, frame.doubleWord(8) == salts else { return false }
        sum.add(frame[..<8])
        sum.add(frame[Self.frameHeaderSize...])
        return sum.matches(frame, at: 16)
    }

    private mutating func read(_ number: Int) throws(SystemError) -> Bool {
        try Self.read(file, &frame, at: off_t(Self.headerSize + (number - 1) * frame.count)) == frame.count
    }
}

/// SQLite's checksum of a log. The checksum of a frame also covers all earlier frames.
private struct Checksum {
    let isLittleEndian: Bool
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    init(isLittleEndian: Bool) { self.isLittleEndian = isLittleEndian }

    /// Adds the bytes. Their number must be a multiple of eight.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        // Unsafe: the loop reads whole words within the slice.
        bytes.withUnsafeBytes { bytes in
            for place in stride(from: 0, to: bytes.count & ~7, by: 8) {
                let one = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
                let two = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
                first &+= (isLittleEndian ? UInt32(littleEndian: one) : UInt32(bigEndian: one)) &+ second
                second &+= (isLittleEndian ? UInt32(littleEndian: two) : UInt32(bigEndian: two)) &+ first
            }
        }
    }

    func matches(_ bytes: [UInt8], at place: Int) -> Bool {
        bytes.word(place) == first && bytes.word(place + 4) == second
    }

    mutating func set(_ bytes: [UInt8], at place: Int) { (first, second) = (bytes.word(place), bytes.word(place + 4)) }
}

extension [UInt8] {
    fileprivate func word(_ place: Int) -> UInt32 { self[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) } }
    fileprivate func doubleWord(_ place: Int) -> UInt64 { UInt64(word(place)) << 32 | UInt64(word(place + 4)) }
}
