internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// A PEM file with certificates or a key.
struct CertificateFile: Hashable, Sendable, CustomStringConvertible {
    enum Kind: Hashable {
        case authorities
        case systemAuthorities
        case certificate
        case key
    }

    var kind: Kind
    var path: String

    /// The largest accepted size in bytes. Usual bundles of authorities have at most 250 KB.
    private static let sizeLimit = 4 << 20

    /// Whether the file has a client certificate, or the key of one. A key fits only its own certificate.
    var isOfClient: Bool { kind == .certificate || kind == .key }

    /// The text that names the file in a message.
    var description: String {
        switch kind {
        case .authorities: "ca_file \(path)"
        case .systemAuthorities: "the system's file of certificates \(path)"
        case .certificate: "client_certificate \(path)"
        case .key: "client_key \(path)"
        }
    }

    /// Reads the file. The call blocks while the file system of the file blocks.
    func read() throws(Failure) -> (bytes: [UInt8], stamp: CertificateStamp) {
        // Without O_NONBLOCK, the open of a FIFO would wait for a writer.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { throw failure(errno) }
        defer { close(number) }
        var status = stat()
        guard fstat(number, &status) == 0 else { throw failure(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.tlsFailed, "\(self) is no regular file")
        }
        var bytes: [UInt8] = []
        // The size in `status` is not used, because the file may grow.
        while bytes.count <= Self.sizeLimit {
            let (count, error) = Self.append(64 << 10, from: number, to: &bytes)
            if count == 0 { return (bytes, CertificateStamp(status)) }
            if count < 0, error != EINTR { throw failure(error) }
        }
        throw Failure(.tlsFailed, "\(self) has more than \(Self.sizeLimit >> 20) MiB, which no certificates have")
    }

    /// The present attributes of the file, or nil if they cannot be read.
    var stamp: CertificateStamp? {
        var status = stat()
        return stat(path, &status) == 0 ? CertificateStamp(status) : nil
    }

    private static func append(_ count: Int, from number: Int32, to bytes: inout [UInt8]) -> (Int, Int32) {
        var (result, error) = (0, Int32(0))
        let more = [UInt8](unsafeUninitializedCapacity: count) { room, filled in
            result = Glibc.read(number, room.baseAddress, count)
            error = errno
            filled = max(0, result)
        }
        bytes += more
        return (result, error)
    }

    private func failure(_ code: Int32) -> Failure {
        let lacks = [EMFILE, ENFILE, ENOMEM, EIO, ESTALE, ETIMEDOUT, EINTR, EAGAIN, ENOTCONN]
        let status: Status = lacks.contains(code) ? .outOfResources : .tlsFailed
        let advice = kind == .systemAuthorities ? "; install ca-certificates, or name a file with ca_file" : ""
        return Failure(
            status, "\(self) cannot be read: \(SystemError.reason(of: code))\(advice)", domain: .system,
            detail: Int64(code))
    }
}

/// The attributes of a file. If one of them differs, the file has changed.
struct CertificateStamp: Equatable, Sendable {
    private var device, inode: UInt64
    private var size, seconds, nanoseconds, changeSeconds, changeNanoseconds: Int

    init(_ status: stat) {
        (device, inode, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int(status.st_size))
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        (changeSeconds, changeNanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
    }
}

/// The content of a file of certificates. When the file has changed, a new object is made. Requests with different
/// objects do not share a connection, so a request with the new object uses no connection that was opened with the old
/// content.
final class Certificates: Hashable, Sendable {
    enum Content: Sendable {
        case authorities(TrustedAuthorities)
        /// A certificate with its chain, or a key.
        case text([UInt8])
    }

    let content: Content
    let stamp: CertificateStamp

    init(_ file: CertificateFile) throws(Failure) {
        let (bytes, stamp) = try file.read()
        self.stamp = stamp
        switch file.kind {
        case .authorities, .systemAuthorities: content = .authorities(try TrustedAuthorities(pem: bytes, file))
        case .certificate, .key: content = .text(bytes)
        }
    }

    static func == (one: Certificates, other: Certificates) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
