/// The option `accepted_types`: a list of media ranges, such as "image/*, application/zip" (RFC 9110, section 12.5.1),
/// without parameters.
struct MediaRanges: Equatable, Sendable {
    static let sizeMaximum = 1_024

    private let ranges: [(type: Substring, subtype: Substring)]

    /// Returns nil if the text is not a list of media ranges.
    init?(_ text: String) {
        guard text.utf8.count <= Self.sizeMaximum else { return nil }
        var ranges: [(type: Substring, subtype: Substring)] = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let range = Self.type(Substring(item)), range.type != "*" || range.subtype == "*" else { return nil }
            ranges.append(range)
        }
        self.ranges = ranges
    }

    /// Whether a response with this Content-Type is accepted. Without Content-Type, the type is
    /// application/octet-stream (RFC 9110, section 8.3).
    func contain(_ contentType: String?) -> Bool {
        let text = (contentType ?? "application/octet-stream").prefix { $0 != ";" }
        guard let found = Self.type(text) else { return false }
        return ranges.contains {
            ($0.type == "*" || $0.type == found.type) && ($0.subtype == "*" || $0.subtype == found.subtype)
        }
    }

    private static func type(_ text: Substring) -> (type: Substring, subtype: Substring)? {
        let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false).map {
            $0.drop(while: { $0 == " " || $0 == "\t" })
        }
        guard parts.count == 2 else { return nil }
        let subtype = parts[1].prefix { $0 != " " && $0 != "\t" }
        let isClean = [parts[0], subtype].allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(RequestCheck.isTokenByte) }
        return isClean && parts[1].dropFirst(subtype.count).allSatisfy(\.isWhitespace) ? (parts[0], subtype) : nil
    }

    static func == (left: Self, right: Self) -> Bool { left.ranges.elementsEqual(right.ranges, by: ==) }
}

extension MediaRanges {
    static func check(_ text: String) throws(Failure) {
        guard MediaRanges(text) == nil else { return }
        throw Failure(
            .invalidArgument, "accepted_types is not a list of media types such as \"image/*, application/zip\"")
    }
}
