/// The body of a request as segments that are sent in sequence. Forms are composed here and not by libcurl, because
/// libcurl would read the files of a form on the thread of the event loop. That thread must not wait for the disk.
public struct BodyLayout: Equatable, Sendable {
    public enum Segment: Equatable, Sendable {
        case bytes([UInt8])
        case file(BodyFile)

        public var size: UInt64 {
            switch self {
            case .bytes(let bytes): UInt64(bytes.count)
            case .file(let file): file.size
            }
        }
    }

    public private(set) var segments: [Segment] = []
    /// The size of all segments in bytes; `UInt64.max` on overflow.
    public private(set) var size: UInt64 = 0
    /// The Content-Type of a form; nil if the request's headers state it.
    public private(set) var contentType: String?

    /// `boundary`: the boundary of a form. The authors of the files must not know it.
    public init(_ body: RequestBody, boundary: @autoclosure () -> String) {
        switch body {
        case .file(let file, _): add(.file(file))
        case .bytes(let bytes): add(.bytes(bytes))
        case .form(let parts, _):
            let boundary = boundary()
            contentType = "multipart/form-data; boundary=\(boundary)"
            for part in parts {
                add(text: "--\(boundary)\r\n" + BodyLayout.head(of: part) + "\r\n")
                switch part.content {
                case .file(let file): add(.file(file))
                case .value(let bytes): add(.bytes(bytes))
                }
                add(text: "\r\n")
            }
            add(text: "--\(boundary)--\r\n")
        }
    }

    /// Returns "backhaul" with the digits of a random number that the task has had since its enqueue (RFC 2046, section
    /// 5.1.1). All attempts have the same boundary, because an attempt may send the rest of an earlier attempt's body.
    public static func boundary(of task: UInt64) -> String {
        let digits = String(task, radix: 16)
        return "backhaul" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The header fields of a form's part (RFC 7578, section 4). Names are sent in UTF-8. Characters that would end a
    /// name are percent-encoded, as in browsers (HTML, "multipart/form-data encoding algorithm").
    private static func head(of part: FormPart) -> String {
        var text = "Content-Disposition: form-data; name=\"\(quotable(part.name))\""
        if let name = part.fileName { text += "; filename=\"\(quotable(name))\"" }
        text += "\r\n"
        if let type = part.mediaType { text += "Content-Type: \(type)\r\n" }
        return text
    }

    private static func quotable(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": text += "%22"
            case "\r": text += "%0D"
            case "\n": text += "%0A"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private mutating func add(text: String) { add(.bytes(Array(text.utf8))) }

    private mutating func add(_ segment: Segment) {
        size = size.saturatingAdd(segment.size)
        if case .bytes(let bytes) = segment, case .bytes(let last)? = segments.last {
            segments[segments.count - 1] = .bytes(last + bytes)
        } else {
            segments.append(segment)
        }
    }
}

extension RequestBody {
    /// The size of the request's body in bytes.
    public var size: UInt64 {
        switch self {
        case .file(let file, _): file.size
        case .bytes(let bytes): UInt64(bytes.count)
        // Each boundary has the same length.
        case .form: BodyLayout(self, boundary: BodyLayout.boundary(of: 0)).size
        }
    }
}

extension RequestBody {
    /// How the engine takes the body's files. If the body is bytes from memory, the value is `reference`.
    public var source: BodySource {
        switch self {
        case .file(_, let source), .form(_, let source): source
        case .bytes: .reference
        }
    }

    /// The body's files, in the order in which they are sent.
    public var files: [BodyFile] {
        switch self {
        case .file(let file, _): [file]
        case .bytes: []
        case .form(let parts, _):
            parts.compactMap { part in if case .file(let file) = part.content { file } else { nil } }
        }
    }

    /// Returns the same body with other files. `replacements`: one file for each file of the body.
    public func replacing(_ replacements: [BodyFile]) -> RequestBody {
        var rest = replacements[...]
        switch self {
        case .file(let file, let source): return .file(rest.popFirst() ?? file, source)
        case .bytes: return self
        case .form(let parts, let source):
            return .form(
                parts.map { part in
                    guard case .file(let file) = part.content else { return part }
                    var part = part
                    part.content = .file(rest.popFirst() ?? file)
                    return part
                }, source)
        }
    }
}
