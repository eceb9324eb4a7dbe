internal import BackhaulModel

/// The digest of a part file, which is written strictly in order. New bytes are added as they are written. Existing
/// bytes are read in slices, so that the disk thread can do other work between them.
struct PartDigest {
    static let sliceSize = 4 << 20

    private let digester: Digester
    /// Bytes of the file that are in the digest.
    private(set) var length: UInt64 = 0

    init(_ algorithm: Checksum.Algorithm) throws(Failure) { digester = try Digester(algorithm) }

    /// Adds bytes whose offset in the file is `end`. They are skipped while earlier bytes are still to be read.
    mutating func add(_ bytes: ArraySlice<UInt8>, behind end: UInt64) throws(Failure) {
        guard length == end else { return }
        try digester.add(bytes)
        length += UInt64(bytes.count)
    }

    func finish() throws(Failure) -> Checksum { try digester.finish() }
}
