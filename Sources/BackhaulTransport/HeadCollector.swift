internal import BackhaulModel

/// Collects the lines of a response's head, which libcurl passes one by one. The collector also gets interim responses
/// before the head, and trailer fields after the body. The number of lines and their total size are limited, so an
/// endless head ends the transfer.
struct HeadCollector {
    static let sizeLimit = 256 * 1024
    static let fieldLimit = 1_000

    enum Step: Equatable {
        case more
        /// The empty line after the fields of a final response was added.
        case complete
        /// The head is invalid. The text completes a message that begins with the name of the sender.
        case broken(String)
    }

    private(set) var status: Int32 = 0
    private(set) var isHTTP2 = false
    private(set) var fields: [ResponseField] = []
    /// Whether a Content-Length or Transfer-Encoding field covers two lines, or has a space before its colon (RFC 9112,
    /// sections 5.1 and 5.2). libcurl does not find such a field.
    private(set) var hasInvalidFraming = false
    /// Whether the status line names a version of HTTP that exists. libcurl accepts any text as the version.
    private var hasKnownVersion = true
    private var hasStatusLine = false
    /// Whether an interim response with status 100 (Continue) has arrived.
    private(set) var hasContinue = false
    /// Whether the whole head of a final response has arrived.
    private(set) var isComplete = false
    private var size = 0
    private var count = 0

    init() {}

    /// - trailers: whether trailer fields of an earlier response may arrive before the first status line.
    init(after trailers: Bool) { hasStatusLine = trailers }

    /// Adds a line, including the CR LF or LF at its end. Lines are bytes, because names and values may be invalid
    /// UTF-8.
    mutating func add(_ line: some BidirectionalCollection<UInt8>) -> Step {
        size += line.count
        count += 1
        // Interim responses and trailer fields count towards both limits.
        guard size <= HeadCollector.sizeLimit else {
            return .broken("sent more than \(HeadCollector.sizeLimit / 1024) KiB of header")
        }
        guard count <= HeadCollector.fieldLimit else {
            return .broken("sent more than \(HeadCollector.fieldLimit) header lines")
        }
        if isComplete { return .more }
        let content = line.prefix { $0 != 0x0D && $0 != 0x0A }
        let isStatusLine = content.starts(with: "HTTP/".utf8)
        // libcurl 7.88.1 accepts any first line in a response to CONNECT, so the line is checked here.
        guard isStatusLine || hasStatusLine else { return .broken("responded with something else than HTTP") }
        if content.isEmpty { return endOfFields() }
        if isStatusLine {
            startResponse(content)
        } else if content.first == 0x20 || content.first == 0x09 {
            unfold(content)
        } else if let colon = content.firstIndex(of: 0x3A) {
            let name = content[..<colon]
            let value = HeadCollector.trim(content[content.index(after: colon)...])
            if let blank = name.firstIndex(where: { $0 == 0x20 || $0 == 0x09 }) {
                let field = ResponseField(String(decoding: name[..<blank], as: UTF8.self), [])
                if field.isFraming { hasInvalidFraming = true }
            }
            fields.append(ResponseField(String(decoding: name, as: UTF8.self), value))
        }
        return .more
    }

    func value(_ name: String) -> String? { fields.first { $0.isNamed(name) }?.text }

    /// Returns the values of all fields with this name.
    func allBytes(_ name: String) -> [[UInt8]] { fields.filter { $0.isNamed(name) }.map(\.value) }

    private mutating func startResponse(_ line: some BidirectionalCollection<UInt8>) {
        hasStatusLine = true
        let words = line.split(separator: 0x20, maxSplits: 2)
        isHTTP2 = words.first?.starts(with: "HTTP/2".utf8) ?? false
        hasKnownVersion = words.first.map { HeadCollector.isVersion($0) } ?? false
        status = words.count > 1 ? Int32(String(decoding: words[1], as: UTF8.self)) ?? 0 : 0
        fields.removeAll(keepingCapacity: true)
        hasInvalidFraming = false
    }

    /// Returns whether the word is a version of HTTP (RFC 9112, section 2.3), or the name that libcurl uses for HTTP/2
    /// or HTTP/3.
    private static func isVersion(_ word: some BidirectionalCollection<UInt8>) -> Bool {
        let version = word.dropFirst("HTTP/".utf8.count)
        if version.starts(with: "1.".utf8) { return version.count == 3 && version.last?.isDigit == true }
        return version.elementsEqual("2".utf8) || version.elementsEqual("3".utf8)
    }

    private mutating func endOfFields() -> Step {
        guard hasKnownVersion else { return .broken("responded in a version of HTTP that does not exist") }
        switch status {
        case 101:
            return .broken("switched to another protocol, which was not asked for")
        case 100..<200:
            if status == 100 { hasContinue = true }
            return .more
        default:
            isComplete = true
            return .complete
        }
    }

    /// Appends a folded line to the value of the field before it. A folded line begins with a space or tab (RFC 9112,
    /// section 5.2).
    private mutating func unfold(_ line: some BidirectionalCollection<UInt8>) {
        guard let last = fields.last else { return }
        if last.isFraming { hasInvalidFraming = true }
        fields[fields.count - 1].value += [0x20] + HeadCollector.trim(line)
    }

    private static func trim(_ text: some BidirectionalCollection<UInt8>) -> [UInt8] {
        let start = text.drop { $0 == 0x20 || $0 == 0x09 }
        guard let end = start.lastIndex(where: { $0 != 0x20 && $0 != 0x09 }) else { return [] }
        return Array(start[...end])
    }
}

extension ResponseField {
    /// Whether the field determines where the body ends.
    fileprivate var isFraming: Bool { isNamed("Content-Length") || isNamed("Transfer-Encoding") }
}

extension HeadCollector {
    /// `Int64.max` if Retry-After is a number of more than 18 digits; otherwise nil. libcurl ignores such a number.
    var uncountableRetryAfter: Int64? {
        guard let digits = value("Retry-After")?.utf8, digits.count > 18,
            digits.allSatisfy(\.isDigit)
        else { return nil }
        return .max
    }
}
