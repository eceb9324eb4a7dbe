/// An XML document of S3, as far as S3 uses XML: elements and texts. No parser of XML is linked with the library, and
/// these documents have no attributes, entities or comments that matter.
public struct S3Document: Equatable, Sendable {
    public struct Element: Equatable, Sendable {
        public var name: String
        public var text: String = ""
        public var children: [Element] = []

        public func child(_ name: String) -> Element? { children.first { $0.name == name } }

        /// The text of a child; nil if there is none.
        public subscript(_ name: String) -> String? { child(name)?.text }
    }

    public let root: Element

    static let sizeLimit = 1 << 20
    private static let depthLimit = 8
    private static let elementLimit = 20_000

    /// Returns nil for a document with a DOCTYPE, an unknown entity, a wrong end, or more than the limits.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count <= S3Document.sizeLimit else { return nil }
        var rest = bytes[...]
        var open: [Element] = []
        var count = 0
        while true {
            let text = rest.prefix { $0 != UInt8(ascii: "<") }
            rest = rest.dropFirst(text.count)
            guard let decoded = S3Document.decoded(text) else { return nil }
            if open.isEmpty {
                guard text.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }) else { return nil }
            } else {
                open[open.count - 1].text += decoded
            }
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            let tag = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
            switch tag.first {
            case UInt8(ascii: "?"): guard tag.last == UInt8(ascii: "?"), open.isEmpty else { return nil }
            case UInt8(ascii: "/"):
                guard let name = String(validating: tag.dropFirst(), as: UTF8.self), let last = open.popLast(),
                    last.name == name
                else { return nil }
                if open.isEmpty {
                    root = last
                    return
                }
                open[open.count - 1].children.append(last)
            default:
                count += 1
                guard let name = S3Document.name(tag), count <= S3Document.elementLimit,
                    open.count < S3Document.depthLimit
                else { return nil }
                guard tag.last == UInt8(ascii: "/") else {
                    open.append(Element(name: name))
                    continue
                }
                if open.isEmpty {
                    root = Element(name: name)
                    return
                }
                open[open.count - 1].children.append(Element(name: name))
            }
        }
    }

    /// The name of an element, from its tag. Attributes, such as the name space, are skipped.
    private static func name(_ tag: ArraySlice<UInt8>) -> String? {
        let name = tag.prefix { $0.isLetter || $0.isDigit || "-_.:".utf8.contains($0) }
        guard let first = name.first, first.isLetter else { return nil }
        guard let next = tag.dropFirst(name.count).first else { return String(decoding: name, as: UTF8.self) }
        guard [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "/")].contains(next) else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        guard text.contains(UInt8(ascii: "&")) else { return String(validating: text, as: UTF8.self) }
        var rest = text
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "&") else {
                bytes.append(byte)
                continue
            }
            let name = rest.prefix(12).prefix { $0 != UInt8(ascii: ";") }
            rest = rest.dropFirst(name.count)
            guard rest.popFirst() == UInt8(ascii: ";"),
                let scalar = scalar(String(decoding: name, as: UTF8.self))
            else { return nil }
            bytes += Array(String(scalar).utf8)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func scalar(_ entity: String) -> Unicode.Scalar? {
        switch entity {
        case "lt": "<"
        case "gt": ">"
        case "amp": "&"
        case "quot": "\""
        case "apos": "'"
        default:
            if entity.hasPrefix("#x") {
                entity.dropFirst(2).utf8.allSatisfy { $0.hexadecimalValue != nil }
                    ? UInt32(entity.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init) : nil
            } else if entity.hasPrefix("#") {
                UInt32(digits: entity.dropFirst()).flatMap(Unicode.Scalar.init)
            } else {
                nil
            }
        }
    }

    /// The text in the form in which a document contains it.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "&": escaped += "&amp;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// The error of a response of S3 (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html).
public struct S3Error: Equatable, Sendable {
    public let code: String
    public let message: String

    /// Nil if the body is no error of S3. The body may be cut: then only the beginning of the document is read.
    public init?(_ body: [UInt8]) {
        if let root = S3Document(body)?.root {
            guard root.name == "Error", let code = root["Code"] else { return nil }
            self.code = code
            message = root["Message"] ?? ""
            return
        }
        let text = String(decoding: body, as: UTF8.self)
        guard text.has("<Error>"), let start = text.firstOccurrence(of: "<Code>")?.upperBound,
            let end = text[start...].firstOccurrence(of: "</Code>")?.lowerBound
        else { return nil }
        code = String(text[start..<end])
        message = ""
    }

    /// Whether new credentials may help.
    public var isOfExpiredCredentials: Bool {
        ["ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired"].contains(code)
    }

    var isTemporary: Bool {
        [
            "InternalError", "SlowDown", "ServiceUnavailable", "RequestTimeout", "OperationAborted",
            "ConditionalRequestConflict", "InvalidPart",
        ].contains(code)
    }
}
