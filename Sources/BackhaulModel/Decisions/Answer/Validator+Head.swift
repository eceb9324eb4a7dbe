extension Validator {
    /// Longer tags are not kept: they would take room in the store and be sent back with every try.
    private static let tagSize = 1_024

    /// What a download can be continued with after this answer: a strong entity tag, or Last-Modified when there is no
    /// entity tag at all (RFC 9110, section 13.1.5, forbids the date beside a weak one) and it is a strong validator,
    /// which means at least one second older than the answer's Date (section 8.8.2.2).
    public init(of head: ResponseHead) {
        self.init()
        if let bytes = head.bytes("ETag") {
            guard !head.isContradictory("ETag"), Self.isStrong(bytes) else { return }
            entityTag = String(decoding: bytes, as: UTF8.self)
        } else if !head.isContradictory("Last-Modified"), let modified = head.value("Last-Modified"),
            let changed = HTTPDate(modified),
            let answered = head.value("Date").flatMap(HTTPDate.init), changed < answered
        {
            lastModified = modified
        }
    }

    /// Visible ASCII between two quotes (RFC 9110, section 8.8.3). Tags with other bytes are legal, but do not survive
    /// their way through text unchanged.
    private static func isStrong(_ bytes: [UInt8]) -> Bool {
        guard (2...tagSize).contains(bytes.count), bytes.first == 0x22, bytes.last == 0x22 else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 }
    }
}
