internal import BackhaulModel

/// The digest of a part file, to which a download writes strictly in order. New bytes are added when they are written.
/// Existing bytes are read in slices, so that the disk thread can do other work between the slices.
struct PartDigest {
    static let sliceSize = 4 << 20

    let algorithm: Checksum.Algorithm
    private let digester: Digester
    /// The number of the file's bytes that are in the digest.
    private(set) var length: UInt64 = 0

    init(_ algorithm: Checksum.Algorithm) throws(Failure) {
        self.algorithm = algorithm
        digester = try Digester(algorithm)
    }

    /// Adds bytes whose offset in the file is `end`. If earlier bytes are not yet in the digest, does nothing. Later,
    /// the earlier bytes and these bytes are read from the file.
    mutating func add(_ bytes: ArraySlice<UInt8>, behind end: UInt64) throws(Failure) {
        guard length == end else { return }
        try digester.add(bytes)
        length += UInt64(bytes.count)
    }

    func finish() throws(Failure) -> Checksum { try digester.finish() }
}
