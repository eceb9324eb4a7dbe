internal import BackhaulModel

/// What marks the end of a response's body over HTTP/1.x (RFC 9112, section 6.3).
enum ResponseFraming: Equatable {
    /// The response has no body, whatever its head says.
    case none
    case chunked
    /// The body has this number of bytes.
    case length(UInt64)
    /// The end of the connection ends the body.
    case untilClose
    /// The framing is invalid. The text completes a message that begins with the server's origin.
    case invalid(String)

    init(_ head: HeadCollector, method: String) {
        let codings = TransferCodings(head.fields)
        if head.hasInvalidFraming {
            self = .invalid("wrote Content-Length or Transfer-Encoding over two lines or with a blank before the colon")
        } else if case .other(let names) = codings {
            // All codings except chunked are refused. libcurl before 8.1.0 would decode them without a size limit.
            self = .invalid("sent a Transfer-Encoding that was not asked for: \(names.prefix(100))")
        } else if method == "HEAD" || [204, 304].contains(head.status) {
            self = .none
        } else if codings == .chunked {
            self = .chunked
        } else {
            switch ContentLength(head.fields) {
            case .bytes(let length): self = .length(length)
            case .unknown: self = .untilClose
            case .malformed: self = .invalid("sent a Content-Length that is not one number")
            }
        }
    }
}

extension HeadCollector {
    /// Whether a challenge covers two or more lines.
    var hasFoldedChallenge: Bool {
        foldedNames.contains {
            let field = ResponseField($0, [])
            return field.isNamed("WWW-Authenticate") || field.isNamed("Proxy-Authenticate")
        }
    }
}

/// How the transport recognises or checks the end of a body, in addition to libcurl.
enum BodyEnd {
    case notChecked
    /// The body has this number of bytes, which libcurl does not use. So the transport ends the body.
    case length(UInt64)
    /// The body ends with its TLS connection. The server has not sent close_notify (RFC 8446, section 6.1) so far.
    case withoutCloseNotify
    case withCloseNotify
    /// The body arrives over HTTP/2, so the end of its stream marks the end.
    case endsWithStream
}
