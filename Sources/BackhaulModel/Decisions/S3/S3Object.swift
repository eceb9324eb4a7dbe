/// An object of S3, from a URL such as `s3://bucket/key`. The key is percent-encoded like the path of any URL.
public struct S3Object: Equatable, Sendable {
    public let bucket: String
    public let key: [UInt8]
    /// The query of a request of an upload, such as `uploadId=1`; nil if there is none.
    public let query: String?

    public static func isObject(_ url: String) -> Bool {
        url.utf8.prefix(5).lazy.map(\.asciiLowercase).elementsEqual("s3://".utf8)
    }

    /// Reads the URL of a request. The URL has no query, because the engine makes the queries of an upload.
    public static func check(_ url: String) throws(Failure) -> S3Object {
        guard !url.utf8.contains(UInt8(ascii: "?")), !url.utf8.contains(UInt8(ascii: "#")) else {
            throw invalid("has a query or a fragment; write ? in a key as %3F and # as %23")
        }
        return try S3Object(url)
    }

    public init(_ url: String) throws(Failure) {
        guard S3Object.isObject(url) else { throw S3Object.invalid("does not begin with s3://") }
        let rest = url.utf8.dropFirst("s3://".utf8.count)
        let bytes = rest.prefix { $0 != UInt8(ascii: "/") }
        guard (3...63).contains(bytes.count), bytes.allSatisfy(S3Object.isOfBucket) else {
            throw S3Object.invalid("names no bucket: 3 to 63 letters, digits, points and hyphens, and then a slash")
        }
        let path = rest.dropFirst(bytes.count + 1)
        let written = path.prefix { $0 != UInt8(ascii: "?") }
        guard let key = PercentCoding.decoded(written) else {
            throw S3Object.invalid("has a percent sign without two hexadecimal digits; write it as %25")
        }
        guard (1...1_024).contains(key.count) else {
            throw S3Object.invalid("names no object: a key has 1 to 1,024 bytes")
        }
        // Clients and servers of HTTP remove such segments, so the request would be for another object.
        let segments = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard !segments.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) else {
            throw S3Object.invalid("has a key with a segment . or .., which HTTP cannot transfer")
        }
        bucket = String(decoding: bytes, as: UTF8.self)
        self.key = key
        query = written.count < path.count ? String(decoding: path.dropFirst(written.count + 1), as: UTF8.self) : nil
    }

    /// The key in the form in which requests and signatures have it.
    public var path: String { S3Object.encoded(key, keeping: UInt8(ascii: "/")) }

    /// Percent-encodes all bytes but the unreserved ones (RFC 3986, section 2.3), and but one more.
    public static func encoded(_ bytes: some Sequence<UInt8>, keeping kept: UInt8? = nil) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            if byte.isLetter || byte.isDigit || "-._~".utf8.contains(byte) || byte == kept {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isOfBucket(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "-._".utf8.contains(byte)
    }

    private static func invalid(_ reason: String) -> Failure {
        Failure(.invalidArgument, "the URL of S3 \(reason)")
    }
}
