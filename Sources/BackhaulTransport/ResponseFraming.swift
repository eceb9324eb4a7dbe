internal import BackhaulModel

/// What marks the end of a response's body over HTTP/1.x (RFC 9112, section 6.3).
enum ResponseFraming: Equatable {
    /// The response has no body, or its Content-Length is 0.
    case none
    case chunked
    case length
    /// The end of the connection ends the body.
    case untilClose
    /// The framing is invalid. The text completes a message that begins with the server's origin.
    case invalid(String)

    init(_ head: HeadCollector, method: String) {
        let codings = head.transferCodings
        if head.hasInvalidFraming {
            self = .invalid("wrote Content-Length or Transfer-Encoding over two lines or with a blank before the colon")
        } else if let codings, codings != ["chunked"] {
            // All codings except chunked are refused, because libcurl may decode them without a size limit. For
            // example, libcurl 7.88.1 decodes gzip although the request did not permit gzip.
            let names = codings.isEmpty ? "none" : codings.joined(separator: ", ")
            self = .invalid("sent a Transfer-Encoding that was not asked for: \(names.prefix(100))")
        } else if method == "HEAD" || [204, 304].contains(head.status) {
            self = .none
        } else if codings != nil {
            self = .chunked
        } else if let length = head.allBytes("Content-Length").first {
            self = length.allSatisfy { $0 == UInt8(ascii: "0") } ? .none : .length
        } else {
            self = .untilClose
        }
    }
}

extension HeadCollector {
    /// The transfer codings in lower case, in the order in which the server has applied them; nil if the head has no
    /// Transfer-Encoding.
    var transferCodings: [String]? {
        let fields = fields.filter { $0.isNamed("Transfer-Encoding") }
        guard !fields.isEmpty else { return nil }
        let blanks: [UInt8] = [0x20, 0x09]
        return fields.flatMap { $0.value.split(separator: UInt8(ascii: ",")) }
            .map { $0.drop(while: blanks.contains).reversed().drop(while: blanks.contains).reversed() }
            .filter { !$0.isEmpty }
            .map { ResponseField("", Array($0)).plainText.lowercased() }
    }
}
