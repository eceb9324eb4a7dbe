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

/// Reads the bytes of a part file that were there, slice by slice, and compares their checksum at each length for which
/// it is known.
struct PartCheck {
    /// So many bytes had this checksum.
    struct Proof {
        var length: UInt64
        var checksum: UInt32
    }

    private(set) var offset: UInt64 = 0
    private var checksum: UInt32 = 0
    /// Ascending by their length.
    private var proofs: [Proof]
    /// The longest that fits so far.
    private var proven = Proof(length: 0, checksum: 0)
    private var isRight = true
    private let isComparing: Bool
    /// Bytes to read.
    let end: UInt64

    init(_ proofs: [Proof]) {
        isComparing = true
        self.proofs = proofs.sorted { $0.length < $1.length }
        end = self.proofs.last?.length ?? 0
    }

    /// Nothing is compared: the checksum of so many bytes is wanted.
    init(reading length: UInt64) {
        isComparing = false
        proofs = []
        end = length
    }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        var bytes = bytes
        // A slice in which proven bytes end is taken in two.
        while let next = proofs.first, next.length <= offset + UInt64(bytes.count) {
            let count = Int(next.length - offset)
            take(bytes.prefix(count))
            bytes = bytes.dropFirst(count)
            // Where a shorter proof does not fit, a longer one is of another file.
            isRight = isRight && checksum == next.checksum
            if isRight { proven = next }
            proofs.removeFirst()
        }
        take(bytes)
    }

    /// As many bytes as were proven; when nothing was to be compared, all of them.
    var believed: Proof { isComparing ? proven : Proof(length: offset == end ? offset : 0, checksum: checksum) }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        checksum = bytes.withUnsafeBytes { bhl_crc32c(checksum, $0.baseAddress, $0.count) }
        offset += UInt64(bytes.count)
    }
}
