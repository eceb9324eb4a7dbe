/// Checks of a request, which describes a download or upload. These checks need only the request's fields. Another
/// module, which can parse URLs, checks the form of the URL.
public enum RequestCheck {
    public static func check(_ request: Request) throws(Failure) {
        let size = request.url.utf8.count
        guard size > 0 else { throw invalid("the request has no URL") }
        guard size <= Limits.urlSize else {
            throw invalid("the URL has \(size) bytes; at most \(Limits.urlSize) are allowed")
        }
        guard request.url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw invalid("the URL has a blank or a control character; percent-encode it (RFC 3986, section 2.1)")
        }
        if let destination = request.destination {
            try check(destination, isDirectory: request.options.isNamedByServer)
        }
        if let key = request.idempotencyKey {
            try checkText(key, "the idempotency key", atMost: Limits.keySize)
        }
        if let data = request.userData, data.count > Limits.userDataSize {
            throw invalid("user_data has \(data.count) bytes; at most \(Limits.userDataSize) are allowed")
        }
        guard (-100...Limits.priorityNow).contains(request.priority) else {
            throw invalid("the priority \(request.priority) is outside of -100 to 100, and is not BH_PRIORITY_NOW")
        }
        guard request.mode.isValid else { throw invalid("the mode has bits that are not permission bits") }
        try checkHeaders(request.headers)
        if S3Object.isObject(request.url) { try checkObject(request) }
        if request.hasOptions || request.ifExists == .skip { try OptionsCheck.check(request) }
    }

    private static func checkObject(_ request: Request) throws(Failure) {
        _ = try S3Object.check(request.url)
        let methods = request.options.body == nil ? ["GET", "HEAD"] : ["PUT"]
        guard methods.contains(request.method) else {
            throw invalid("the method \(request.method) is not for an object of S3; give \(methods[0])")
        }
        if case .form = request.options.body { throw invalid("an object of S3 is a file or bytes, not a form") }
        guard request.options.body == nil || request.kind == .upload else {
            throw invalid("an upload to S3 has no destination")
        }
        for name in ["authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"] {
            guard !request.headers.contains(where: { $0.name.lowercased() == name }) else {
                throw invalid("the header \(name) of a request of S3 is set by the engine; leave it out")
            }
        }
    }

    /// Checks the form of the path. A module with access to the file system checks whether the file can be written.
    public static func check(_ destination: Destination, isDirectory: Bool = false) throws(Failure) {
        let path = destination.path.utf8
        guard path.first == UInt8(ascii: "/") else { throw invalid("the destination is not an absolute path") }
        guard path.count <= Limits.pathSize else {
            throw invalid("the destination has \(path.count) bytes; at most \(Limits.pathSize) are allowed")
        }
        guard !path.contains(0) else { throw invalid("the destination has a NUL byte") }
        if isDirectory {
            guard destination.name.isEmpty else {
                throw invalid("the destination of BH_REQUEST_NAMED_BY_SERVER does not end with a slash")
            }
            guard path.count + Limits.fileNameSize <= Limits.pathSize else {
                throw invalid("the destination leaves no room for a name of \(Limits.fileNameSize) bytes")
            }
            return
        }
        guard !["", ".", ".."].contains(destination.name) else {
            throw invalid("the destination names a directory; end it with the name of a file")
        }
    }

    /// Headers that only the engine (the part of the library that sends the request) may set. If a program set them,
    /// they would break ranges, framing or connections.
    static let reserved: Set<String> = [
        "range", "if-range", "host", "content-length", "transfer-encoding", "connection", "accept-encoding", "te",
        "upgrade", "keep-alive", "proxy-connection", "proxy-authorization", "trailer", "expect",
    ]

    /// Checks the names, values and size of headers. `reserved`: names that the headers must not have.
    static func checkHeaders(
        _ headers: [HeaderField], reserved: Set<String> = RequestCheck.reserved
    ) throws(Failure) {
        guard headers.count <= Limits.headerCount else {
            throw invalid("the request has \(headers.count) headers; at most \(Limits.headerCount) are allowed")
        }
        var size = 0
        for field in headers {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(isTokenByte) else {
                throw invalid("a header name is not a token of letters, digits and !#$%&'*+-.^_`|~ (RFC 9110, 5.6.2)")
            }
            // A value must not contain control bytes, except tabs (RFC 9110, section 5.5). For example, a line break
            // would end the field.
            guard field.value.utf8.allSatisfy(\.isFieldText) else {
                throw invalid("the value of header \(field.name) has a line break or another control character")
            }
            let name = String(decoding: field.name.utf8.map(\.asciiLowercase), as: UTF8.self)
            guard !reserved.contains(name) else {
                let advice = name == "range" ? "set range_start and range_size instead" : "leave it out of the request"
                throw invalid("the header \(field.name) is set by the engine; \(advice)")
            }
            size += field.name.utf8.count + field.value.utf8.count
        }
        guard size <= Limits.headersSize else {
            throw invalid("the headers have \(size) bytes; at most \(Limits.headersSize) are allowed")
        }
    }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    private static func checkText(_ text: String, _ name: String, atMost limit: Int) throws(Failure) {
        guard !text.isEmpty else { throw invalid("\(name) is empty; leave it out instead") }
        let size = text.utf8.count
        guard size <= limit else { throw invalid("\(name) has \(size) bytes; at most \(limit) are allowed") }
        guard !text.utf8.contains(0) else { throw invalid("\(name) has a NUL byte") }
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
