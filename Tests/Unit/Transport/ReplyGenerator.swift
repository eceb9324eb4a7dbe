import TestSupport

/// A server's reply to one request: a head with any number of faults, and a body.
struct Reply {
    var bytes: [UInt8] = []
    /// The status and the body of a reply without a fault, which must be accepted; nil for a reply that may have a
    /// fault.
    var expected: (status: Int32, body: [UInt8])?
}

/// Makes replies. A seed always yields the same reply.
struct ReplyGenerator {
    private var random: SeededGenerator
    private var bytes: [UInt8] = []

    static func reply(_ seed: UInt64) -> Reply {
        var generator = ReplyGenerator(random: SeededGenerator(seed: seed))
        return generator.happens(4) ? generator.faultless() : generator.faulty()
    }

    /// Returns true once in `count` calls.
    private mutating func happens(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func any<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private mutating func content() -> [UInt8] {
        Array(any(["", "e", "error\n", "body", "0123456789abcdef"]).utf8)
    }

    // MARK: - Replies without a fault

    private mutating func faultless() -> Reply {
        let body = content()
        let status: Int32 = any([200, 200, 200, 201, 206, 300, 302, 400, 404, 416, 500, 503, 599])
        let framing = any(["length", "chunks", "close"])
        if happens(4) { write(["HTTP/1.1 103 Early Hints", "Link: </a>", ""]) }
        write(["HTTP/1.\(any([0, 1, 1, 1])) \(status)\(any([" OK", " ", " Not Found: x"]))"])
        var fields = (0..<Int.random(in: 0...4, using: &random)).map { _ in any(Self.harmless) }
        switch framing {
        case "length": fields.append("Content-Length: \(body.count)")
        case "chunks": fields.append("Transfer-Encoding: chunked")
        default: fields.append("Connection: close")
        }
        write(fields.shuffled(using: &random) + [""])
        bytes += framing == "chunks" ? chunks(body) : body
        return Reply(bytes: bytes, expected: (status, body))
    }

    private static let harmless = [
        "ETag: \"a\"", "Content-Type: text/plain", "X-A: b", "X-Empty:", "X-Folded: a\r\n b", "x-lower:c",
        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "X-Colons: a:b:c", "Set-Cookie: a=b", "Retry-After: 5",
        "X-HTTP: HTTP/1.1 404 Not Found", "Content-Encoding: gzip", "X-Blanks:   a \t", "X-Bytes: \u{FC}",
    ]

    private mutating func write(_ lines: [String]) { for line in lines { bytes += Array("\(line)\r\n".utf8) } }

    private mutating func chunks(_ body: [UInt8]) -> [UInt8] {
        let first = body.prefix(Int.random(in: 0...body.count, using: &random))
        var chunked: [UInt8] = []
        for chunk in [first, body.dropFirst(first.count)] where !chunk.isEmpty {
            chunked += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + [0x0D, 0x0A]
        }
        let trailer = any(["", "", "X-Trailer: a\r\n", "HTTP/1.1 200 OK: x\r\n"])
        return chunked + Array("0\r\n\(trailer)\r\n".utf8)
    }

    // MARK: - Replies with faults

    private mutating func faulty() -> Reply {
        let body = content()
        for _ in 0..<any([0, 0, 0, 0, 1, 2]) {
            end(any(["HTTP/1.1 100 Continue", "HTTP/1.1 103 Early", "HTTP/1.1 199 Odd", "HTTP/1.1 101 Switching"]))
            for _ in 0..<any([0, 1]) { end(field(for: body)) }
            end("")
        }
        end(happens(3) ? any(Self.statusLines) : any(Self.usualStatusLines))
        for _ in 0..<any([0, 1, 1, 2, 2, 3, 4]) { end(field(for: body)) }
        end("")
        if happens(4) { mutate() }
        bytes += happens(3) ? chunks(body) : body
        return Reply(bytes: bytes)
    }

    /// Writes a line with an end that is usually, but not always, CR LF.
    private mutating func end(_ line: String) {
        bytes += Array(line.utf8)
        bytes += happens(12) ? any([[0x0A], [0x0A], [0x0D, 0x0D, 0x0A], [0x0D], [0x00, 0x0D, 0x0A]]) : [0x0D, 0x0A]
    }

    /// Changes, inserts or removes a byte of the head.
    private mutating func mutate() {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let byte: UInt8 = any([0x00, 0x09, 0x0A, 0x0B, 0x0D, 0x20, 0x2C, 0x2D, 0x30, 0x35, 0x3A, 0x3B, 0x7F, 0xFF])
        switch any([0, 1, 2]) {
        case 0: bytes[place] = byte
        case 1: bytes.insert(byte, at: place)
        default: bytes.remove(at: place)
        }
    }

    private static let usualStatusLines = [
        "HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found", "HTTP/1.1 401 Unauthorized", "HTTP/1.1 302 Found",
        "HTTP/1.0 200 OK", "HTTP/1.1 206 Partial Content", "HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified",
    ]

    private static let statusLines = [
        "HTTP/1.1 200", "HTTP/1.1  200 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 +20 OK", "HTTP/1.1 +200 OK", "HTTP/1.1200 OK",
        "HTTP/2 200 OK", "HTTP/2.0 200 OK", "HTTP/3 200 OK", "HTTP/1.2 200 OK", "HTTP/1.10 200 OK", "HTTP/2 00200 OK",
        "http/1.1 404 Not Found", "HTTP/x 404 Not Found", "HTTP/1.1 020 OK", "HTTP/1.1 99 OK", "HTTP/1.1 -20 OK",
        "HTTP/1.1\t200 OK", "HTTP/ 1.1 200 OK", "HTTP/1.1 200\tOK", "HTTP/1.1 200x", "HTTP/1.1 600 Odd",
        "HTTP/1.1 \t200", " HTTP/1.1 200 OK", "\r\nHTTP/1.1 200 OK", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 999 Odd",
        "ICY 200 OK",
        "HTTP/1.1 421 Misdirected", "HTTP/1.1 407 Proxy", "HTTP/1.1 205 Reset", "HTTP/1.1 0200 OK", "HTTP/1.1 20 0 OK",
    ]

    private mutating func field(for body: [UInt8]) -> String {
        let length = body.count
        return switch any([0, 0, 0, 1, 2, 2, 3]) {
        case 0:
            any([
                "Content-Length: \(length)", "Content-Length: \(length)", "content-length:\(length)\t",
                "Content-Length: 3", "Content-Length: 0", "Content-Length : \(length)", "Content-Length: +\(length)",
                "Content-Length: \(length), \(length)", "Content-Length: \(length),4", "Content-Length: \(length);",
                "Content-Length: -\(length)", "Content-Length:", "Content-Length: 0x\(length)",
                "Content-Length: \(length)\r0", "Content-Length:\r\n \(length)", "Content-Length: 1\r\n 6",
                "Content-Length: 99999999999999999999", "Content-Length: 9223372036854775808",
                "Content-Length: 00\(length)", "Content-Length: \(length) 0", "Content-Length\u{B}: \(length)",
            ])
        case 1:
            any([
                "Transfer-Encoding: chunked", "Transfer-Encoding: CHUNKED", "Transfer-Encoding: gzip",
                "Transfer-Encoding : chunked", "Transfer-Encoding: identity", "Transfer-Encoding: identity, chunked",
                "Transfer-Encoding: chu\u{B}nked", "Transfer-Encoding: chun\u{212A}ed",
                "Transfer-Encoding: \u{B}chunked", "Transfer-Encoding: chunked, chunked", "Transfer-Encoding:",
                "Transfer-Encoding:\r\n chunked", "Transfer-Encoding: chunked;q=1", "Transfer-Encoding: ,chunked",
                "Transfer-Encoding: chunked\u{B}",
            ])
        case 2:
            any([
                "HTTP/1.1 200 OK: x", "HTTP/1.1 200 OK", "HTTP/2 200: x", "HTTP/1.0 404 No: HTTP/1.1", "HTTP/: x",
                "HTTP/1.1 404 Not Found: x", "HTTP/1.1: 200", "http/1.1 200 OK: x",
            ])
        default:
            any(
                Self.harmless + [
                    "Location: /a", "Location:\r\n /a", "Location : /a", "WWW-Authenticate: Basic realm=\"a\"",
                    "WWW-Authenticate:\r\n Basic realm=\"a\"", "no colon", ": nameless", " folded: 1", "\tfolded",
                    "\rX: y",
                    "X-Nul: a\0b", "\0", "X-CR: a\rb", "Connection: close", "Upgrade: h2c",
                    "Content-Range: bytes 0-1/2",
                ])
        }
    }
}
