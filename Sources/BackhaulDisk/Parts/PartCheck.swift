internal import CLinux

/// A part file as this engine has left it.
struct PartFootprint {
    let checksum: UInt32?
    private let status: FileStatus
    private let length: UInt64
    private let times: FileTimes?

    /// - length: what was written of it by us.
    /// - times: when that was.
    init(_ status: FileStatus, _ length: UInt64, _ times: FileTimes?, _ checksum: UInt32?) {
        (self.status, self.length, self.times, self.checksum) = (status, length, times, checksum)
    }

    func isSameFile(_ other: FileStatus) -> Bool { other.isSameFile(as: status) && other.size == length }

    func isUntouched(_ other: FileStatus) -> Bool { FileTimes(other) == times }
}

struct FileTimes: Equatable {
    private let modified, changed: Int64

    init(_ status: FileStatus) { (modified, changed) = (status.modifiedNanoseconds, status.changedNanoseconds) }
}

/// Reads the bytes of a part file that were there, slice by slice: the first of them against the checksum that they
/// had, all of them for the checksum that they have.
struct PartCheck {
    private(set) var offset: UInt64 = 0
    private(set) var checksum: UInt32 = 0
    private let proven: UInt64
    private let expected: UInt32?
    private(set) var isRight = true

    /// - proven: so many bytes had this checksum. Nil: it is not known, and nothing is compared.
    init(proven: UInt64, _ expected: UInt32?) {
        (self.proven, self.expected) = (proven, expected)
    }

    /// How far is read of a file of this length.
    func end(of length: UInt64) -> UInt64 { max(length, proven) }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        // The slice in which the proven bytes end is taken in two.
        let rest = proven > offset ? Int(min(UInt64(bytes.count), proven - offset)) : 0
        take(bytes.prefix(rest))
        if rest > 0, offset == proven, let expected { isRight = checksum == expected }
        take(bytes.dropFirst(rest))
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        checksum = bytes.withUnsafeBytes { bhl_crc32c(checksum, $0.baseAddress, $0.count) }
        offset += UInt64(bytes.count)
    }
}
