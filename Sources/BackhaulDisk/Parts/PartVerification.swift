internal import CLinux

/// The state of a part file after this engine closed the file or failed to write it.
struct PartFootprint {
    let checksum: UInt32?
    private let status: FileStatus
    private let length: UInt64
    private let times: FileTimes?

    /// - length: the number of bytes that this engine wrote, or found in the file and accepted.
    /// - times: the times of the file after this engine's last write.
    init(_ status: FileStatus, _ length: UInt64, _ times: FileTimes?, _ checksum: UInt32?) {
        (self.status, self.length, self.times, self.checksum) = (status, length, times, checksum)
    }

    func hasNumbers(of other: FileStatus) -> Bool { other.isSameFile(as: status) }

    func isSameFile(_ other: FileStatus) -> Bool { other.isSameFile(as: status) && other.size == length }

    func isUntouched(_ other: FileStatus) -> Bool { FileTimes(other) == times }
}

struct FileTimes: Equatable {
    private let modified, changed: Int64

    init(_ status: FileStatus) { (modified, changed) = (status.modifiedNanoseconds, status.changedNanoseconds) }
}

/// Checks the existing bytes of a part file, slice by slice. Compares their checksum with the known checksums of
/// prefixes of the file.
struct PartVerification {
    /// The first `length` bytes of the file, with their checksum.
    struct Prefix {
        var length: UInt64
        var checksum: UInt32
    }

    private(set) var offset: UInt64 = 0
    private var checksum: UInt32 = 0
    /// The prefixes that are not yet compared, sorted by length.
    private var prefixes: [Prefix]
    /// The longest prefix that has matched so far.
    private var verified = Prefix(length: 0, checksum: 0)
    private var isMatching = true
    private let isComparing: Bool
    /// The number of bytes to read.
    let end: UInt64

    init(_ prefixes: [Prefix]) {
        isComparing = true
        self.prefixes = prefixes.sorted { $0.length < $1.length }
        end = self.prefixes.last?.length ?? 0
    }

    /// Makes a check that only computes the checksum of the first `length` bytes, without a comparison.
    init(reading length: UInt64) {
        isComparing = false
        prefixes = []
        end = length
    }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        var bytes = bytes
        // A slice that contains the end of a prefix is processed in two steps.
        while let next = prefixes.first, next.length <= offset + UInt64(bytes.count) {
            let count = Int(next.length - offset)
            take(bytes.prefix(count))
            bytes = bytes.dropFirst(count)
            // If a shorter prefix does not match this file, a longer prefix cannot match it.
            isMatching = isMatching && checksum == next.checksum
            if isMatching { verified = next }
            prefixes.removeFirst()
        }
        take(bytes)
    }

    /// The longest prefix that has matched. Without a comparison, this is the first `end` bytes, or an empty prefix if
    /// the file has fewer bytes.
    var verifiedPrefix: Prefix {
        isComparing ? verified : Prefix(length: offset == end ? offset : 0, checksum: checksum)
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        checksum = bytes.withUnsafeBytes { bhl_crc32c(checksum, $0.baseAddress, $0.count) }
        offset += UInt64(bytes.count)
    }
}
