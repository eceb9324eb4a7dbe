/// The names of header fields that have a code in the database.
enum HeaderName {
    /// The bit of a code for a name in lower case, as in HTTP/2 and HTTP/3.
    private static let lowercaseBit: UInt8 = 0x80
    /// The code of the first name in the list. The codes below it are not names: 0 is never used, and 1 announces a
    /// name as text.
    private static let firstCode: UInt8 = 2

    /// The place of a name in this list is stored in databases. So names are only appended, up to 126 names. A name
    /// may be in the list several times in different spellings. Each spelling must have a capital letter.
    static let known = [
        "Server", "Date", "Content-Type", "Content-Length", "Last-Modified", "Connection", "ETag", "Accept-Ranges",
        "Cache-Control", "Expires", "Content-Disposition", "Content-Language", "Content-Encoding", "Content-Location",
        "Content-Range", "Content-Digest", "Repr-Digest", "Digest", "Content-MD5", "Link", "Retry-After", "Location",
        "Vary", "Age", "Via", "Pragma", "Keep-Alive", "Transfer-Encoding", "Trailer", "Upgrade", "Allow", "Warning",
        "Set-Cookie", "Cookie", "Authorization", "WWW-Authenticate", "Proxy-Authenticate", "Proxy-Authorization",
        "Authentication-Info", "Accept", "Accept-Encoding", "Accept-Language", "Accept-Charset", "User-Agent",
        "Referer", "Origin", "Host", "Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
        "If-Range", "Expect", "TE", "From", "Forwarded", "Alt-Svc", "Strict-Transport-Security",
        "Content-Security-Policy", "Content-Security-Policy-Report-Only", "Permissions-Policy", "Referrer-Policy",
        "X-Content-Type-Options", "X-Frame-Options", "X-XSS-Protection", "X-Powered-By", "X-Request-ID",
        "X-Request-Id", "X-Cache", "X-Cache-Hits", "X-Served-By", "X-Timer", "X-Varnish", "X-Robots-Tag",
        "X-Download-Options", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "X-API-Key",
        "Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers",
        "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers", "Access-Control-Max-Age",
        "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Cross-Origin-Embedder-Policy",
        "Timing-Allow-Origin", "Server-Timing", "Report-To", "NEL", "Cache-Status", "CDN-Cache-Control",
        "Surrogate-Control", "Etag", "CF-RAY", "CF-Cache-Status", "X-Amz-Cf-Id", "X-Amz-Cf-Pop", "X-Amz-Request-Id",
        "X-Amz-Id-2", "X-Amz-Version-Id", "X-Amz-Server-Side-Encryption", "X-GitHub-Request-Id", "X-RateLimit-Limit",
        "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Fastly-Request-ID", "X-Goog-Hash", "X-Goog-Generation",
        "X-MS-Request-Id", "Refresh", "Status", "Www-Authenticate",
    ]

    private static let table = WordTable(known + known.map { $0.lowercased() })

    /// The code of a name; nil if the name has no code.
    static func code(of name: Span<UInt8>) -> UInt8? {
        guard let index = table.index(of: name) else { return nil }
        return index < known.count
            ? firstCode + UInt8(index) : (firstCode + UInt8(index - known.count)) | lowercaseBit
    }

    /// The name of a code; nil if no name has this code.
    static func name(of code: UInt8) -> String? {
        let place = Int(code & ~lowercaseBit) - Int(firstCode)
        guard known.indices.contains(place) else { return nil }
        return table.words[code & lowercaseBit == 0 ? place : known.count + place]
    }
}
