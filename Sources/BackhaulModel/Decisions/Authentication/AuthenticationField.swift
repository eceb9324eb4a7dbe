/// One challenge of a WWW-Authenticate or Proxy-Authenticate field (RFC 9110, section 11.3).
struct OfferedScheme: Equatable {
    /// The name in lower case, because the case of a scheme's name does not matter.
    var name: String
    var realm: String?
    /// The algorithms of Digest, in lower case. A correct challenge names one or none.
    var algorithms: Set<String> = []
    /// Whether the challenge has a nonce, which Digest needs.
    var hasNonce = false
}

/// Reads the challenges of WWW-Authenticate and Proxy-Authenticate fields (RFC 9110, sections 11.6.1 and 11.7.1). It
/// reads several challenges in one field, several fields, quoted strings with escapes, and token68. A comma separates
/// two challenges, or two parameters of one challenge. So the parser checks the byte after each name: a name before "="
/// is the name of a parameter, and any other name is the next scheme. The parser is needed because libcurl does not
/// expose the challenges that it reads.
///
/// Text that breaks the grammar is skipped up to the next comma. The size of the result is bounded for every text that
/// a server may send.
struct AuthenticationField {
    static let sizeLimit = 16_384
    static let schemeLimit = 32
    static let realmSize = 1_024

    private var bytes: ArraySlice<UInt8>
    private var offered: [OfferedScheme] = []

    private init(_ text: String) { bytes = Array(text.utf8.prefix(AuthenticationField.sizeLimit))[...] }

    static func schemes(_ values: [String]) -> [OfferedScheme] {
        var offered: [OfferedScheme] = []
        for value in values.prefix(schemeLimit) {
            var field = AuthenticationField(value)
            field.read()
            offered += field.offered
        }
        return Array(offered.prefix(schemeLimit))
    }

    private mutating func read() {
        while offered.count <= AuthenticationField.schemeLimit {
            skip { $0 == 0x20 || $0 == 0x09 || $0 == 0x2C }
            guard !bytes.isEmpty else { return }
            let name = token()
            guard !name.isEmpty else {
                skipToComma()
                continue
            }
            let hasBlank = skipBlanks()
            if bytes.first == 0x3D {
                parameter(name)
            } else {
                offered.append(OfferedScheme(name: name.lowercased()))
                if hasBlank { skipToken68() }
            }
        }
    }

    /// Reads the value of a parameter. The next byte is "=".
    private mutating func parameter(_ name: String) {
        bytes = bytes.dropFirst()
        skipBlanks()
        let value = bytes.first == 0x22 ? quoted() : token()
        if !offered.isEmpty { note(name.lowercased(), value, in: &offered[offered.count - 1]) }
        skipToComma()
    }

    /// If a challenge has several realms, which is an error, the first one counts.
    private func note(_ name: String, _ value: String, in scheme: inout OfferedScheme) {
        switch name {
        case "realm" where scheme.realm == nil:
            scheme.realm = PlainText.of(value, atMost: AuthenticationField.realmSize)
        case "algorithm": scheme.algorithms.insert(value.lowercased())
        case "nonce": scheme.hasNonce = true
        default: break
        }
    }

    /// Skips a token68, which may follow a scheme in place of parameters. A token68 ends at a comma or at the end of
    /// the field.
    private mutating func skipToken68() {
        let start = bytes
        skip(while: AuthenticationField.isToken68Byte)
        guard bytes.count < start.count else { return }
        skip { $0 == 0x3D }
        skipBlanks()
        if let next = bytes.first, next != 0x2C { bytes = start }
    }

    private mutating func quoted() -> String {
        bytes = bytes.dropFirst()
        var text: [UInt8] = []
        while let byte = bytes.popFirst() {
            switch byte {
            case 0x22: return String(decoding: text, as: UTF8.self)
            case 0x5C: if let escaped = bytes.popFirst() { text.append(escaped) }
            default: text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func token() -> String {
        let end = bytes.firstIndex { !RequestCheck.isTokenByte($0) } ?? bytes.endIndex
        defer { bytes = bytes[end...] }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// Skips to the next comma outside of quoted strings.
    private mutating func skipToComma() {
        while let byte = bytes.first, byte != 0x2C {
            if byte == 0x22 { _ = quoted() } else { bytes = bytes.dropFirst() }
        }
    }

    @discardableResult
    private mutating func skipBlanks() -> Bool {
        let before = bytes.count
        skip { $0 == 0x20 || $0 == 0x09 }
        return bytes.count < before
    }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        bytes = bytes.drop(while: condition)
    }

    private static func isToken68Byte(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "-._~+/".utf8.contains(byte)
    }
}

/// Makes a server's text safe to show. The result has no control characters, no invisible characters, and no characters
/// that change the direction of the text around them (Unicode TR 36).
public enum PlainText {
    public static func of(_ text: String, atMost size: Int) -> String {
        var plain = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: continue
            default: break
            }
            count += UTF8.width(scalar)
            guard count <= size else { break }
            plain.append(scalar)
        }
        return String(plain)
    }
}
