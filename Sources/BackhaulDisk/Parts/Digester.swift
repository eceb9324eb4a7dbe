internal import BackhaulModel
internal import CCrypto

/// An incremental digest of a file's bytes. It uses libcrypto, which is loaded for libcurl in any case and uses the
/// processor's instructions for digests.
///
/// Unsafe: `context` is an object of libcrypto. Only this digester uses the context, and `deinit` frees it.
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

    /// Returns the digest of all added bytes. No bytes can be added afterwards.
    func finish() throws(Failure) -> Checksum {
        var digest = [UInt8](repeating: 0, count: algorithm.size)
        guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw Self.unavailable }
        return Checksum(algorithm, digest)
    }

    private static var unavailable: Failure {
        Failure(.outOfResources, "libcrypto computes no digests: memory is exhausted, or its configuration forbids it")
    }
}
