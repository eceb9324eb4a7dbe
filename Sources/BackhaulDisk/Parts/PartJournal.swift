internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// A file with a small record for each part file. A download writes to its part file until all bytes have arrived. The
/// record has the length of the part file after the last write, and the checksum of these bytes. The journal is in the
/// store, the directory of the engine.
///
/// After a crash, the length of a part file alone does not prove its content. The file system may have lost pages that
/// were not synced, and may have rounded the length up. This can happen even without a reboot: after an error that
/// makes the file system read-only, or after a forced unmount.
///
/// The records are not synced. After a kill of the process, the records match the part files. After a crash of the
/// machine, the records or the part files may have an older content. Then the checksums do not match.
///
/// The records are not in the database, because the write of a record must need only one system call and no sync.
/// `docs/store.md` describes the format.
public final class PartJournal: Sendable {
    /// The number of records. A running engine has at most 1,792 open part files; the other records belong to waiting
    /// tasks.
    private static let slotCount = 2_048
    private static let recordSize = 32

    private struct Key: Hashable {
        let inode: UInt64
        let name: UInt32
    }

    private struct Slot {
        var index: Int
        var length: UInt64
        var checksum: UInt32
        /// The number of the write that last changed the slot, counted since the journal was opened.
        var age: UInt64
    }

    private struct Table {
        var slots: [Key: Slot] = [:]
        var free: [Int] = []
        var writes: UInt64 = 0
    }

    private let file: Descriptor
    private let table: Lock<Table>

    /// Opens the journal at the path. If it is missing, creates it. Returns nil on an error; then downloads continue
    /// from their last checkpoints, which are their records in the database.
    public init?(path: String) {
        let number = bhl_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard number >= 0 else { return nil }
        file = Descriptor(owning: number)
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            return nil
        }
        table = Lock(Self.read(number))
    }

    private static func read(_ number: Int32) -> Table {
        var table = Table()
        var bytes = [UInt8](repeating: 0, count: slotCount * recordSize)
        let count = max(0, pread(number, &bytes, bytes.count, 0))
        for index in 0..<slotCount {
            let record = bytes[(index * recordSize)..<((index + 1) * recordSize)]
            if (index + 1) * recordSize <= count, let (key, length, checksum) = decode(record) {
                table.slots[key] = Slot(index: index, length: length, checksum: checksum, age: 0)
            } else {
                table.free.append(index)
            }
        }
        table.free.reverse()
        return table
    }

    // MARK: Records

    func record(of inode: UInt64, _ name: String) -> (length: UInt64, checksum: UInt32)? {
        let key = Key(inode: inode, name: Self.checksum(Array(name.utf8)[...]))
        return table.withLock { $0.slots[key].map { ($0.length, $0.checksum) } }
    }

    /// Records that the part file now has this many bytes, with this checksum.
    func note(_ inode: UInt64, _ name: String, length: UInt64, checksum: UInt32) {
        let key = Key(inode: inode, name: Self.checksum(Array(name.utf8)[...]))
        table.withLock { table in
            table.writes += 1
            let index = table.slots[key]?.index ?? table.free.popLast() ?? Self.evict(&table)
            table.slots[key] = Slot(index: index, length: length, checksum: checksum, age: table.writes)
            write(Self.encode(key, length, checksum), at: index)
        }
    }

    /// Removes the record, because the part file has its final name or was removed.
    func forget(_ inode: UInt64, _ name: String) {
        let key = Key(inode: inode, name: Self.checksum(Array(name.utf8)[...]))
        table.withLock { table in
            guard let slot = table.slots.removeValue(forKey: key) else { return }
            table.free.append(slot.index)
            write([UInt8](repeating: 0, count: Self.recordSize), at: slot.index)
        }
    }

    /// Removes the oldest record, and returns its slot.
    private static func evict(_ table: inout Table) -> Int {
        guard let oldest = table.slots.min(by: { $0.value.age < $1.value.age }) else { return 0 }
        table.slots[oldest.key] = nil
        return oldest.value.index
    }

    /// Writes a record. The caller has locked the mutex, so no other part file gets a freed slot before the old record
    /// in this slot is cleared. A failure is ignored, because its effect is small: if the engine is killed later, only
    /// the bytes since the last checkpoint are lost.
    private func write(_ record: [UInt8], at index: Int) {
        _ = record.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, off_t(index * Self.recordSize)) }
    }

    // MARK: Bytes

    /// Returns the bytes of a record. The fields are little-endian: inode, length, checksum of the name, checksum of
    /// the bytes, four zeros, checksum of the record.
    private static func encode(_ key: Key, _ length: UInt64, _ checksum: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(recordSize)
        for number in [key.inode, length, UInt64(key.name) | UInt64(checksum) << 32, 0] {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        bytes.removeLast(4)
        let proof = Self.checksum(bytes[...])
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: proof >> shift)) }
        return bytes
    }

    private static func decode(_ record: ArraySlice<UInt8>) -> (Key, length: UInt64, checksum: UInt32)? {
        func number(_ offset: Int, _ size: Int) -> UInt64 {
            let start = record.startIndex + offset
            return record[start..<(start + size)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        let length = number(8, 8)
        guard length > 0, number(28, 4) == UInt64(checksum(record.dropLast(4))) else { return nil }
        let key = Key(inode: number(0, 8), name: UInt32(number(16, 4)))
        return (key, length, UInt32(number(20, 4)))
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.withUnsafeBytes { bhl_crc32c(0, $0.baseAddress, $0.count) }
    }
}
