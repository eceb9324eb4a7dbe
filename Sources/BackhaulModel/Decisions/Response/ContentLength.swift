/// The length of a response's body, as the response's head states it.
public enum ContentLength: Equatable, Sendable {
    case unknown
    case bytes(UInt64)
    /// The field is invalid (RFC 9110, section 8.6): its text is not a decimal number, or it has different numbers.
    case malformed

    public init(_ fields: [ResponseField]) {
        // Transfer-Encoding overrides Content-Length (RFC 9112, section 6.3).
        switch TransferCodings(fields) {
        case .none, .identity: break
        case .chunked, .other:
            self = .unknown
            return
        }
        let fields = fields.filter { $0.isNamed("Content-Length") }.map { String(decoding: $0.value, as: UTF8.self) }
        guard let first = fields.first else {
            self = .unknown
            return
        }
        // The usual case: one field with one number.
        if fields.count == 1, let bytes = Self.number(first[...]) {
            self = .bytes(bytes)
            return
        }
        let numbers = fields.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed) }
        // A list of equal numbers is allowed: an intermediary may repeat the value.
        guard let bytes = numbers.first.flatMap(Self.number),
            numbers.allSatisfy({ $0.utf8.elementsEqual(numbers[0].utf8) })
        else {
            self = .malformed
            return
        }
        self = .bytes(bytes)
    }

    /// Returns nil if the text is empty, or has a character that is not a decimal digit. A number of more than 64 bits
    /// becomes the largest `UInt64`, which is refused later as too large.
    private static func number(_ text: Substring) -> UInt64? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return UInt64(text) ?? .max
    }
}

extension Substring {
    /// The text without optional white space at both ends (RFC 9110, section 5.6.3).
    fileprivate var trimmed: Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        guard let start = firstIndex(where: { !isBlank($0) }), let end = lastIndex(where: { !isBlank($0) }) else {
            return ""
        }
        return self[start...end]
    }
}
