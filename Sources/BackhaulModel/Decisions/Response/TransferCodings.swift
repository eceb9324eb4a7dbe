/// The transfer codings of a response over HTTP/1.x (RFC 9112, section 6.1).
public enum TransferCodings: Equatable, Sendable {
    /// The head has no Transfer-Encoding.
    case none
    /// The body has no coding, as an earlier version of HTTP allowed (RFC 2616, section 3.6).
    case identity
    case chunked
    /// Any other codings, as text for a message.
    case other(String)

    public init(_ fields: [ResponseField]) {
        let values = fields.filter { $0.isNamed("Transfer-Encoding") }.map(\.value)
        guard !values.isEmpty else {
            self = .none
            return
        }
        let blanks: [UInt8] = [0x20, 0x09]
        let codings = values.flatMap { $0.split(separator: UInt8(ascii: ",")) }
            .map { $0.drop(while: blanks.contains).reversed().drop(while: blanks.contains).reversed() }
            .map { ResponseField("", $0.map(\.asciiLowercase)) }
            .filter { !$0.value.isEmpty }
        // Names are compared as bytes, as libcurl compares them: a text may hide control characters.
        switch codings.filter({ $0.value != Array("identity".utf8) }).map(\.value) {
        case [] where !codings.isEmpty: self = .identity
        case [Array("chunked".utf8)]: self = .chunked
        default: self = .other(codings.isEmpty ? "none" : codings.map(\.plainText).joined(separator: ", "))
        }
    }
}
