extension AnswerSummary {
    /// Headers of an answer that hosts ask for; the rest is not kept.
    static let chosen = [
        "ETag", "Last-Modified", "Content-Type", "Content-Disposition", "Content-Language", "Date", "Cache-Control",
        "Expires", "Retry-After", "Repr-Digest", "Content-Digest", "Link",
    ]

    /// Longer values are left out: a server's words take bounded room in the store.
    static let valueSize = 4_096

    /// Whether the value of a field of this name is kept.
    static func keeps(_ name: String) -> Bool {
        let name = name.lowercased()
        return chosen.contains { $0.lowercased() == name }
    }

    public init(_ head: ResponseHead) {
        self.init()
        httpStatus = head.status
        finalURL = head.finalURL.utf8.count <= Limits.urlSize ? head.finalURL : nil
        mediaType = head.plainText("Content-Type").flatMap { $0.utf8.count <= Self.valueSize ? $0 : nil }
        headers = Self.chosen.compactMap { name in
            head.plainText(name).flatMap { $0.utf8.count <= Self.valueSize ? HeaderField(name, $0) : nil }
        }
    }
}
