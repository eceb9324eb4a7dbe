internal import BackhaulModel
internal import BackhaulPlatform
internal import CCurl

/// Collects the lines of a response's head, which libcurl passes one by one. The collector also gets interim responses
/// before the head, and trailer fields after the body. The number of lines and their total size are limited, so an
/// endless head ends the transfer.
///
/// libcurl reads the same lines, and decides by them, for example, where the body ends. So the collector must not read
/// a line in another way than libcurl. It refuses lines that the two might read in different ways.
struct HeadCollector {
    static let sizeLimit = 256 * 1024
    static let fieldLimit = 1_000

    enum Step: Equatable {
        case more
        /// An interim response with these fields is complete.
        case interim(status: Int32, [ResponseField])
        /// The empty line after the fields of a final response was added.
        case complete
        /// The head is invalid. The text completes a message that begins with the name of the sender.
        case broken(String)
    }

    private enum Expected {
        case statusLine
        /// Trailer fields of an earlier response may arrive before the status line.
        case statusLineOrTrailer
        case field
        case trailer
    }

    private(set) var status: Int32 = 0
    private(set) var isHTTP2 = false
    private(set) var fields: [ResponseField] = []
    /// Whether a Content-Length or Transfer-Encoding field covers two lines, or has a space before its colon (RFC 9112,
    /// sections 5.1 and 5.2). libcurl does not find such a field.
    private(set) var hasInvalidFraming = false
    /// The names of the fields that cover two or more lines. libcurl before 8.18 reads only the first of these lines.
    private(set) var foldedNames: [String] = []
    /// Whether an interim response with status 100 (Continue) has arrived.
    private(set) var hasContinue = false
    private var expected = Expected.statusLine
    private var size = 0
    private var count = 0

    init() {}

    /// - trailers: whether trailer fields of an earlier response may arrive before the first status line.
    init(after trailers: Bool) { expected = trailers ? .statusLineOrTrailer : .statusLine }

    /// Whether the whole head of a final response has arrived.
    var isComplete: Bool { expected == .trailer }

    /// Adds a line, including the CR LF or LF at its end. Lines are bytes, because names and values may be invalid
    /// UTF-8.
    mutating func add(_ line: some BidirectionalCollection<UInt8>) -> Step {
        size += line.count
        count += 1
        // Trailer fields count towards both limits, and so do interim responses without progress (`forgetInterims`).
        guard size <= HeadCollector.sizeLimit else {
            return .broken("sent more than \(HeadCollector.sizeLimit / 1024) KiB of header")
        }
        guard count <= HeadCollector.fieldLimit else {
            return .broken("sent more than \(HeadCollector.fieldLimit) header lines")
        }
        if isComplete { return .more }
        let content = HeadCollector.withoutEnd(line)
        // libcurl takes a line that begins with CR for the end of the head, and a CR for the end of a number.
        guard !content.contains(where: { $0 == 0x0D || $0 == 0 }) else {
            return .broken("sent a header line with a carriage return or NUL inside")
        }
        switch expected {
        case .statusLineOrTrailer where !content.starts(with: "HTTP/".utf8): return .more
        case .statusLine, .statusLineOrTrailer: return startResponse(content)
        case .field where content.isEmpty: return endOfFields()
        case .field, .trailer: return addField(content)
        }
    }

    /// Begins the limits again. For a long upload, a server may report its progress in any number of interim responses.
    mutating func forgetInterims() { (size, count) = (0, 0) }

    func value(_ name: String) -> String? { fields.first { $0.isNamed(name) }?.text }

    /// Returns the values of all fields with this name.
    func allBytes(_ name: String) -> [[UInt8]] { fields.filter { $0.isNamed(name) }.map(\.value) }

    private static func withoutEnd<Line: BidirectionalCollection<UInt8>>(_ line: Line) -> Line.SubSequence {
        guard line.last == 0x0A else { return line[...] }
        let content = line.dropLast()
        return content.last == 0x0D ? content.dropLast() : content
    }

    /// Only the first line of a response is a status line. libcurl accepts many other first lines, and reads
    /// `HTTP/x 404` as the status 200.
    private mutating func startResponse(_ line: some BidirectionalCollection<UInt8>) -> Step {
        guard line.starts(with: "HTTP/".utf8) else { return .broken("responded with something else than HTTP") }
        let words = line.split(separator: 0x20, maxSplits: 2)
        guard let version = words.first, HeadCollector.isVersion(version) else {
            return .broken("responded in a version of HTTP that does not exist")
        }
        guard words.count > 1, let status = HeadCollector.status(words[1]) else {
            return .broken("sent a status that is not a number of three digits")
        }
        self.status = status
        isHTTP2 = version.starts(with: "HTTP/2".utf8)
        expected = .field
        return .more
    }

    /// Returns whether the word is a version of HTTP (RFC 9112, section 2.3), or the name that libcurl uses for HTTP/2
    /// or HTTP/3.
    private static func isVersion(_ word: some BidirectionalCollection<UInt8>) -> Bool {
        let version = word.dropFirst("HTTP/".utf8.count)
        if version.starts(with: "1.".utf8) { return version.count == 3 && version.last?.isDigit == true }
        return version.elementsEqual("2".utf8) || version.elementsEqual("3".utf8)
    }

    private static func status(_ word: some Collection<UInt8>) -> Int32? {
        guard word.count == 3, word.allSatisfy(\.isDigit), word.first != UInt8(ascii: "0") else { return nil }
        return Int32(String(decoding: word, as: UTF8.self))
    }

    private mutating func endOfFields() -> Step {
        switch status {
        case 101:
            return .broken("switched to another protocol, which was not asked for")
        case 100..<200:
            if status == 100 { hasContinue = true }
            let interim = Step.interim(status: status, fields)
            fields.removeAll(keepingCapacity: true)
            foldedNames = []
            hasInvalidFraming = false
            expected = .statusLine
            return interim
        default:
            expected = .trailer
            return .complete
        }
    }

    private mutating func addField(_ line: some BidirectionalCollection<UInt8>) -> Step {
        if line.first == 0x20 || line.first == 0x09 { return unfold(line) }
        // libcurl refuses a line without a colon, except in a response to CONNECT.
        guard let colon = line.firstIndex(of: 0x3A) else { return .more }
        let name = line[..<colon]
        let value = HeadCollector.trim(line[line.index(after: colon)...])
        if let blank = name.firstIndex(where: { $0 == 0x20 || $0 == 0x09 }) {
            let field = ResponseField(String(decoding: name[..<blank], as: UTF8.self), [])
            if field.isFraming { hasInvalidFraming = true }
        }
        fields.append(ResponseField(String(decoding: name, as: UTF8.self), value))
        return .more
    }

    /// Appends a folded line to the value of the field before it. A folded line begins with a space or tab (RFC 9112,
    /// section 5.2).
    private mutating func unfold(_ line: some BidirectionalCollection<UInt8>) -> Step {
        guard let last = fields.indices.last else { return .broken("began its header with a folded line") }
        if fields[last].isFraming { hasInvalidFraming = true }
        foldedNames.append(fields[last].name)
        let more = HeadCollector.trim(line)
        if !fields[last].value.isEmpty, !more.isEmpty { fields[last].value.append(0x20) }
        fields[last].value += more
        return .more
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
    /// Returns the delay from the Retry-After field, in seconds; nil without the field. The field has a date or a
    /// number (RFC 9110, section 10.2.3). A date is compared with the server's own Date, because the clocks of the
    /// server and of this machine may differ. A past date or an invalid value demands no delay, but it still shows that
    /// the server expects another request.
    var retryAfterSeconds: Int64? {
        guard let text = value("Retry-After"), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy(\.isDigit) { return Int64(text) ?? .max }
        let date = value("Date").map { Int64(curl_getdate($0, nil)) } ?? -1
        return max(0, Int64(curl_getdate(text, nil)) - (date >= 0 ? date : Clock.wallMilliseconds / 1_000))
    }
}
