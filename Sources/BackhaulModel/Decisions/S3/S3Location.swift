/// Where a request for an object of S3 is sent.
public struct S3Location: Equatable, Sendable {
    /// The scheme and the name of the server, with its port if that is not the scheme's own.
    public let server: String
    /// The path as it is sent and signed.
    public let path: String
    public let query: String?
    public let region: String

    public var url: String { server + path + (query.map { "?" + $0 } ?? "") }

    /// The field Host of the request.
    public var host: String { String(server.dropFirst(server.hasPrefix("https://") ? 8 : 7)) }

    /// - settings: the completed settings (`S3Settings.completed`).
    public init(_ object: S3Object, _ settings: S3Settings) throws(Failure) {
        region = settings.region ?? S3Settings.standardRegion
        guard S3Settings.isRegion(region) else {
            throw Failure(.invalidArgument, "the region of S3 is not a name such as eu-central-1")
        }
        let endpoint = try settings.endpoint.map { text throws(Failure) in try Endpoint(text) }
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        let base = endpoint ?? Endpoint(scheme: "https", authority: "s3.\(region).\(domain)", path: "")
        // The certificate of AWS is for one label before its name, and names of servers have no letters in upper case.
        let isLabel = object.bucket.utf8.allSatisfy { $0.isLowercase || $0.isDigit || $0 == UInt8(ascii: "-") }
        if settings.usesPathStyle ?? (endpoint != nil || !isLabel) {
            server = "\(base.scheme)://\(base.authority)"
            path = "\(base.path)/\(object.bucket)/\(object.path)"
        } else {
            server = "\(base.scheme)://\(object.bucket.lowercased()).\(base.authority)"
            path = "\(base.path)/\(object.path)"
        }
        query = object.query
    }

    /// A URL of a server, without a query.
    private struct Endpoint {
        var scheme: String
        var authority: String
        /// Without a slash at its end.
        var path: String

        init(scheme: String, authority: String, path: String) {
            (self.scheme, self.authority, self.path) = (scheme, authority, path)
        }

        init(_ text: String) throws(Failure) {
            let mark = text.firstOccurrence(of: "://")
            scheme = mark.map { text[..<$0.lowerBound].lowercased() } ?? "https"
            let rest = mark.map { text[$0.upperBound...] } ?? text[...]
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = rest[..<end].lowercased()
            var path = String(rest[end...])
            while path.hasSuffix("/") { path.removeLast() }
            self.path = path
            // libcurl leaves out the port that belongs to the scheme, also from the field Host.
            for suffix in [scheme == "https" ? ":443" : ":80"] where authority.hasSuffix(suffix) {
                authority.removeLast(suffix.count)
            }
            let isClean = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"?#@%\\".utf8.contains($0) }
            guard ["http", "https"].contains(scheme), !authority.isEmpty, isClean else {
                throw Failure(
                    .invalidArgument,
                    "the endpoint of S3 is not the URL of a server, such as https://minio.example:9000")
            }
        }
    }
}
