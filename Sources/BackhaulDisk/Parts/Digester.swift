internal import BackhaulModel
internal import CCrypto

/// A digest that grows with the bytes of a file. libcrypto's, because curl has loaded it anyway and it uses what the
/// processor has.
///
/// Unsafe: the context is this object's alone, and lives as long.
final class Digester {
    let algorithm: Checksum.Algorithm
    private let context: OpaquePointer

    init(_ algorithm: Checksum.Algorithm) throws(Failure) {
        self.algorithm = algorithm
        guard let context = EVP_MD_CTX_new() else { throw Self.unavailable }
        self.context = context
        guard EVP_DigestInit_ex(context, algorithm == .sha256 ? EVP_sha256() : EVP_sha512(), nil) == 1 else {
            throw Self.unavailable
        }
    }

    deinit { EVP_MD_CTX_free(context) }

    func add(_ bytes: ArraySlice<UInt8>) throws(Failure) {
        let added = bytes.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        guard added == 1 else { throw Self.unavailable }
    }

    /// Of all that was added. Nothing can be added afterwards.
    func finish() throws(Failure) -> Checksum {
        var digest = [UInt8](repeating: 0, count: algorithm.size)
        guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw Self.unavailable }
        return Checksum(algorithm, digest)
    }

    private static var unavailable: Failure {
        Failure(.outOfResources, "libcrypto computes no digests: memory is exhausted, or its configuration forbids it")
    }
}
