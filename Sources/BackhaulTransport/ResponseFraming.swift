internal import BackhaulModel

/// How the end of a response's body is known over HTTP/1.x (RFC 9112, section 6.3).
enum ResponseFraming: Equatable {
    /// There is no body.
    case none
    case chunked
    case length
    /// It ends with the connection.
    case untilClose
    /// The rest of a sentence that begins with the server.
    case invalid(String)

    init(_ head: HeadCollector, method: String) {
        let codings = head.transferCodings
        // libcurl 7.88.1 decodes gzip and others that were not asked for, without a bound.
        if let codings, codings != ["chunked"] {
            let names = codings.isEmpty ? "none" : codings.joined(separator: ", ")
            self = .invalid("sent a Transfer-Encoding that was not asked for: \(names.prefix(100))")
        } else if method == "HEAD" || [204, 304].contains(head.status) {
            self = .none
        } else if codings != nil {
            self = .chunked
        } else if let length = head.value("Content-Length") {
            self = length.utf8.allSatisfy { $0 == UInt8(ascii: "0") } ? .none : .length
        } else {
            self = .untilClose
        }
    }
}

extension HeadCollector {
    /// The transfer codings in the order of their application, in small letters; nil without the field.
    var transferCodings: [String]? {
        let name = "transfer-encoding"
        let fields = fields.filter { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name }
        guard !fields.isEmpty else { return nil }
        let blanks: Set<Character> = [" ", "\t"]
        return fields.flatMap { $0.value.lowercased().split(separator: ",") }
            .map { String($0.drop(while: blanks.contains)).trimmingSuffix(while: blanks.contains) }
            .filter { !$0.isEmpty }
    }
}

extension String {
    fileprivate func trimmingSuffix(while isDropped: (Character) -> Bool) -> String {
        var rest = self[...]
        while let last = rest.last, isDropped(last) { rest.removeLast() }
        return String(rest)
    }
}
