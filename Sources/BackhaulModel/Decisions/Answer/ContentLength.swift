/// The length of an answer's body as its head tells it.
enum ContentLength: Equatable {
    case unknown
    case bytes(UInt64)
    /// Not one decimal number. Sums up what RFC 9110, section 8.6, calls invalid.
    case malformed

    init(_ head: ResponseHead) {
        // The transfer coding overrides it (RFC 9112, section 6.3).
        guard head.value("Transfer-Encoding") == nil else {
            self = .unknown
            return
        }
        let numbers = head.values("Content-Length").flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        guard let first = numbers.first else {
            self = .unknown
            return
        }
        // Repeated by some intermediary, all alike: that is allowed.
        let text = first.trimmed
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            numbers.allSatisfy({ $0.trimmed.utf8.elementsEqual(text.utf8) })
        else {
            self = .malformed
            return
        }
        // A number beyond 64 bits is too large in any case.
        self = .bytes(UInt64(text) ?? .max)
    }
}

extension Substring {
    /// Without optional white space (RFC 9110, section 5.6.3).
    fileprivate var trimmed: Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        guard let start = firstIndex(where: { !isBlank($0) }), let end = lastIndex(where: { !isBlank($0) }) else {
            return ""
        }
        return self[start...end]
    }
}
