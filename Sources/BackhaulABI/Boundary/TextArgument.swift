internal import BackhaulModel
internal import Glibc

// Unsafe: the host guarantees that its strings can be read until the call returns.

/// Copies the host's NUL-terminated strings. It reads no bytes beyond the limits, and refuses invalid UTF-8.
enum TextArgument {
    static func required(
        _ pointer: UnsafePointer<CChar>?, _ name: String, limit: Int
    ) throws(Failure) -> String {
        guard let text = try optional(pointer, name, limit: limit) else {
            throw Failure(.invalidArgument, "\(name) is NULL, but it is required")
        }
        return text
    }

    static func optional(
        _ pointer: UnsafePointer<CChar>?, _ name: String, limit: Int
    ) throws(Failure) -> String? {
        guard let pointer else { return nil }
        let text = try bounded(pointer, name, limit: limit)
        guard !text.isEmpty else { throw Failure(.invalidArgument, "\(name) is an empty string") }
        return text
    }

    /// The same as `required`, but the text may be empty.
    static func bounded(
        _ pointer: UnsafePointer<CChar>, _ name: String, limit: Int
    ) throws(Failure) -> String {
        let size = strnlen(pointer, limit + 1)
        guard size <= limit else {
            throw Failure(.invalidArgument, "\(name) is longer than \(limit) bytes")
        }
        let bytes = UnsafeRawBufferPointer(start: pointer, count: size)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            guard paths.contains(name.split(separator: ".").last.map(String.init) ?? name) else {
                throw Failure(.invalidArgument, "\(name) is not valid UTF-8")
            }
            throw Failure(
                .invalidArgument,
                "\(name) is not valid UTF-8: \(escaped(bytes)); the library takes paths in UTF-8 only: rename the file "
                    + "or its directory")
        }
        return text
    }

    /// The arguments that are paths. Other texts may be secret, so messages do not show them.
    private static let paths: Set<String> = [
        "store", "daemon", "destination", "file", "body_file", "ca_file", "client_certificate", "client_key",
        "program", "working_directory",
    ]

    /// The text with each byte outside of printable ASCII as `\xff`.
    private static func escaped(_ bytes: UnsafeRawBufferPointer) -> String {
        bytes.map { byte in
            (0x20...0x7E).contains(byte)
                ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
