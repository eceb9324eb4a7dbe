internal import BackhaulModel

/// Gathers the header lines that curl hands over, one at a time, into the head of the final response. Bounded: an
/// endless header is an error, not a heap.
struct HeadParser {
    static let sizeLimit = 256 << 10
    static let countLimit = 1_000

    enum Step {
        case more
        /// The block of a final response is complete.
        case head
        case tooLarge
    }

    private(set) var status: Int32 = 0
    private(set) var isHTTP2 = false
    private(set) var fields: [HeaderField] = []
    private var size = 0

    mutating func add(_ line: Span<UInt8>) -> Step {
        size += line.count
        guard size <= Self.sizeLimit else { return .tooLarge }
        let text = Self.text(line)
        if text.hasPrefix("HTTP/") {
            begin(text)
            return .more
        }
        if text.isEmpty { return status >= 200 ? .head : .more }
        guard fields.count < Self.countLimit else { return .tooLarge }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return .more }
        let value = text[text.utf8.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        fields.append(HeaderField(String(text[..<colon]), Self.withoutTrailingBlanks(value)))
        return .more
    }

    /// A status line starts anew: what came before was an interim response, or an answer to an earlier request.
    private mutating func begin(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
        status = words.count > 1 ? Int32(words[1]) ?? 0 : 0
        isHTTP2 = words.first == "HTTP/2" || words.first == "HTTP/2.0"
        fields = []
    }

    /// Header bytes outside ASCII have no agreed meaning (RFC 9110, section 5.5): bad UTF-8 becomes U+FFFD, and control
    /// characters are gone before anything is stored or shown.
    private static func text(_ line: Span<UInt8>) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(line.count)
        for index in line.indices {
            let byte = line[index]
            if byte >= 0x20 && byte != 0x7F || byte == 0x09 { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func withoutTrailingBlanks(_ text: Substring) -> String {
        var text = text
        while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
        return String(text)
    }
}
