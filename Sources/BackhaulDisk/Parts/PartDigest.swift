internal import BackhaulModel

/// The digest of a part file that is written strictly in order: of what is written from now on as it is written, of
/// what was there before by reading it, in slices, so that the other work of its disk thread goes on in between.
struct PartDigest {
    static let sliceSize = 4 << 20

    private let digester: Digester
    /// Bytes of the file that are in the digest.
    private(set) var length: UInt64 = 0

    init(_ algorithm: Checksum.Algorithm) throws(Failure) { digester = try Digester(algorithm) }

    /// Bytes that stand in the file behind `end`; passed over while there are others before them to be read.
    mutating func add(_ bytes: ArraySlice<UInt8>, behind end: UInt64) throws(Failure) {
        guard length == end else { return }
        try digester.add(bytes)
        length += UInt64(bytes.count)
    }

    func finish() throws(Failure) -> Checksum { try digester.finish() }
}
