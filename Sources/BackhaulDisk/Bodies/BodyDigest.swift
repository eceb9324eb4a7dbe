public import BackhaulModel
internal import BackhaulPlatform

/// The SHA-256 of bytes in memory.
public enum ByteDigest {
    public static func sha256(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
        let digester = try Digester(.sha256)
        try digester.add(bytes[...])
        return try digester.finish().digest
    }
}

/// Computes the SHA-256 of a part of a body's file, block by block on a disk thread, so that the thread can do other
/// work between two blocks.
///
/// Unchecked: only the disk thread uses the digester and the offset, after the initializer has returned.
final class BodyDigest: @unchecked Sendable {
    private let reader: BodyReader
    private let digester: Digester
    private var offset: UInt64
    private let end: UInt64
    private let then: @Sendable (Result<[UInt8], Failure>) -> Void

    private static let blockSize: UInt64 = 1 << 20

    init(
        _ reader: BodyReader, _ range: Range<UInt64>, then: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) throws(Failure) {
        self.reader = reader
        digester = try Digester(.sha256)
        (offset, end) = (range.lowerBound, range.upperBound)
        self.then = then
    }

    func readNext() {
        let count = Int(min(Self.blockSize, end - offset))
        reader.read(at: offset, count: count) { [self] result in
            do throws(Failure) {
                try digester.add(result.get()[...])
                offset += UInt64(count)
                guard offset >= end else { return readNext() }
                then(.success(try digester.finish().digest))
            } catch {
                then(.failure(error))
            }
        }
    }
}

extension BodyReader {
    /// Computes the SHA-256 of a part of the file. `then` is called on the disk thread. Fails like `read`.
    public func digest(
        of range: Range<UInt64>, then: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) throws(Failure) {
        try BodyDigest(self, range, then: then).readNext()
    }
}
