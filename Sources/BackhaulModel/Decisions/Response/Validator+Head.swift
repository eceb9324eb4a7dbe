extension Validator {
    /// The longest entity tag or date that is stored, in bytes. The limit exists because they take space in the store,
    /// and a tag is sent with every attempt.
    private static let sizeLimit = 1_024

    /// The validator (entity tag or Last-Modified) with which a later request can continue the download. If the
    /// response has a strong entity tag, the validator is this tag. Last-Modified is then a further sign: it is only
    /// compared, so any value counts. If the tag is weak, the validator is empty, because Last-Modified must not
    /// replace an entity tag (RFC 9110, section 13.1.5). If the response has no entity tag, the validator is
    /// Last-Modified, but only if it is at least one second older than the response's Date (a strong validator, section
    /// 8.8.2.2).
    public init(of head: ResponseHead) {
        self.init()
        if let bytes = head.bytes("ETag") {
            guard !head.isContradictory("ETag"), Self.isStrong(bytes) else { return }
            entityTag = String(decoding: bytes, as: UTF8.self)
        }
        guard !head.isContradictory("Last-Modified"), let modified = head.value("Last-Modified"),
            modified.utf8.count <= Self.sizeLimit, entityTag != nil || Self.isStrong(modified, of: head)
        else { return }
        lastModified = modified
    }

    /// Whether Last-Modified is before the Date of its response.
    private static func isStrong(_ modified: String, of head: ResponseHead) -> Bool {
        guard let changed = IMFFixdate.seconds(modified), let date = head.value("Date").flatMap(IMFFixdate.seconds)
        else { return false }
        return changed < date
    }

    /// Whether the representation is the same as that of an earlier response: the strong entity tag is equal (RFC 9110,
    /// section 8.8.1), and no Last-Modified contradicts it.
    func isSameRepresentation(as former: Validator) -> Bool {
        entityTag != nil && entityTag == former.entityTag
            && (lastModified == nil || former.lastModified == nil || lastModified == former.lastModified)
    }

    /// Whether the tag is visible ASCII between two quotes (RFC 9110, section 8.8.3). Tags with other bytes are legal,
    /// but a conversion to text may change these bytes.
    private static func isStrong(_ bytes: [UInt8]) -> Bool {
        guard (2...sizeLimit).contains(bytes.count), bytes.first == 0x22, bytes.last == 0x22 else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 }
    }
}
