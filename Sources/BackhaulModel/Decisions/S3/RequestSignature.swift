/// Signature Version 4 of AWS, in its form for S3. libcurl has it, too, but its versions treat queries in different
/// ways, and its option takes part in the choice of an authentication scheme, which the transport controls.
public struct RequestSignature {
    public typealias Hash = (_ bytes: [UInt8]) throws(Failure) -> [UInt8]

    private let credentials: S3Credentials
    private let region: String
    private let hash: Hash

    /// - hash: SHA-256.
    public init(_ credentials: S3Credentials, region: String, hash: @escaping Hash) {
        self.credentials = credentials
        self.region = region
        self.hash = hash
    }

    /// The SHA-256 of no bytes.
    public static let emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// Returns the header fields that a request needs in addition to its own.
    /// - headers: the request's own fields. Those of AWS (`x-amz-…`) are signed. `payload`: the SHA-256 of the body in
    ///   hexadecimal digits. `seconds`: the time, in seconds since 1970.
    public func fields(
        method: String, _ location: S3Location, headers: [HeaderField], payload: String, seconds: Int64
    ) throws(Failure) -> [HeaderField] {
        let time = Self.time(seconds)
        var added = [HeaderField("x-amz-date", time), HeaderField("x-amz-content-sha256", payload)]
        if let token = credentials.sessionToken { added.append(HeaderField("x-amz-security-token", token)) }
        var signed: [String: String] = ["host": location.host]
        for field in headers.filter({ Self.isSigned($0.name) }) + added {
            let name = field.name.lowercased()
            signed[name] = signed[name].map { $0 + "," + Self.trimmed(field.value) } ?? Self.trimmed(field.value)
        }
        let names = signed.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let lines = names.map { "\($0):\(signed[$0] ?? "")\n" }.joined()
        let list = names.joined(separator: ";")
        let request = [
            method, location.path, Self.canonical(location.query), lines, list, payload,
        ].joined(separator: "\n")
        let date = String(time.prefix(8))
        let scope = "\(date)/\(region)/s3/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n" + Self.digits(try hash(Array(request.utf8)))
        var key = Array("AWS4\(credentials.secretKey)".utf8)
        for part in [date, region, "s3", "aws4_request"] { key = try code(of: part, key) }
        let signature = Self.digits(try code(of: text, key))
        let value =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope),SignedHeaders=\(list),Signature=\(signature)"
        return added + [HeaderField("Authorization", value)]
    }

    private static func isSigned(_ name: String) -> Bool {
        name.lowercased() == "range" || name.lowercased().hasPrefix("x-amz-")
    }

    /// The parameters in the order in which they are signed. A parameter without a value gets an empty one.
    private static func canonical(_ query: String?) -> String {
        guard let query, !query.isEmpty else { return "" }
        let parameters = query.split(separator: "&").map { $0.contains("=") ? String($0) : $0 + "=" }
        return parameters.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "&")
    }

    /// The value without blanks at its ends. A series of blanks counts as one.
    private static func trimmed(_ value: String) -> String {
        value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }

    /// HMAC with SHA-256 (RFC 2104).
    private func code(of text: String, _ secret: [UInt8]) throws(Failure) -> [UInt8] {
        let short = secret.count > 64 ? try hash(secret) : secret
        let key = short + [UInt8](repeating: 0, count: 64 - short.count)
        let inner = try hash(key.map { $0 ^ 0x36 } + Array(text.utf8))
        return try hash(key.map { $0 ^ 0x5C } + inner)
    }

    public static func digits(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The time in the form `20130524T000000Z`.
    static func time(_ seconds: Int64) -> String {
        let time = LocalTime(seconds * 1_000) { _ in 0 }
        let date = LocalTime.date(time.day)
        let second = time.time / 1_000
        func text(_ number: Int64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return text(date.year, 4) + text(Int64(date.month), 2) + text(Int64(date.day), 2) + "T"
            + text(second / 3_600, 2) + text(second / 60 % 60, 2) + text(second % 60, 2) + "Z"
    }
}
