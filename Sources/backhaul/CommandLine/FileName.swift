/// Derives file names from URLs. A name is always one path component, and never "." or "..". So a URL cannot choose a
/// directory. A name has no control characters, and is short enough for the file system.
enum FileName {
    static let fallback = "index.html"
    /// The length of the longest name, in bytes: NAME_MAX (limits.h(0p)).
    static let longestName = 255

    static func from(url: String) -> String {
        let segment = lastSegment(of: url)
        let decoded = String(validating: percentDecoded(segment), as: UTF8.self) ?? segment
        let safe = String(
            String.UnicodeScalarView(decoded.unicodeScalars.map { $0 == "/" || isControl($0) ? "_" : $0 }))
        let name = shortened(safe)
        return name.isEmpty || name == "." || name == ".." ? fallback : name
    }

    private static func lastSegment(of url: String) -> String {
        let bytes = Array(url.utf8)
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
        var start = 0
        let colon = bytes[..<end].firstIndex(of: UInt8(ascii: ":"))
        if let colon, colon + 2 < end, bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/") {
            // The host name is skipped, because it is not a file name: "http://host" has no path.
            start = bytes[(colon + 3)..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
        }
        let path = bytes[start..<end]
        let segment = path.lastIndex(of: UInt8(ascii: "/")).map { path[($0 + 1)...] } ?? path
        return String(decoding: segment, as: UTF8.self)
    }

    private static func percentDecoded(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = Character(Unicode.Scalar(bytes[index + 1])).hexDigitValue,
                let low = Character(Unicode.Scalar(bytes[index + 2])).hexDigitValue
            {
                result.append(UInt8(high * 16 + low))
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// Shortens a long name. If the name has an extension of up to 16 bytes (with its dot), removes characters before
    /// the extension, and keeps the extension.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longestName else { return name }
        let dot = name.lastIndex(of: ".")
        let tail = dot.map { name[$0...] }.flatMap { $0.utf8.count <= 16 ? $0 : nil } ?? ""
        var head = name.dropLast(tail.count)
        while head.utf8.count + tail.utf8.count > longestName { head.removeLast() }
        return String(head + tail)
    }
}
