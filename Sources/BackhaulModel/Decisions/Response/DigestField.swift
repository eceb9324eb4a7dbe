/// A Repr-Digest or Content-Digest field (RFC 9530): a dictionary (RFC 9651, section 3.2) whose members are byte
/// sequences. The project has its own reader, because none of the project's libraries reads structured fields.
struct DigestField {
    /// The digests of known algorithms, if they have the right length.
    private(set) var digests: [Checksum.Algorithm: Checksum] = [:]

    /// The longest field that is read, in bytes. Useful fields are shorter.
    private static let longest = 4_096

    /// The result is empty if the field is missing or malformed. If any part of the field is malformed, the whole field
    /// is ignored (RFC 9651, section 4.2).
    init(_ head: ResponseHead, _ name: String) {
        let values = head.allBytes(name)
        guard !values.isEmpty else { return }
        let bytes = Array(values.joined(separator: ", ".utf8))
        guard bytes.count <= Self.longest, let text = ResponseField(name, bytes).text,
            let members = StructuredFieldReader.dictionary(text)
        else { return }
        for member in members {
            guard let algorithm = Checksum.Algorithm(rawValue: member.key) else { continue }
            // A later member replaces an earlier member with the same key, even if the later member is unusable.
            guard case .bytes(let bytes) = member.value, bytes.count == algorithm.size else {
                digests[algorithm] = nil
                continue
            }
            digests[algorithm] = Checksum(algorithm, bytes)
        }
    }

    /// The digest to verify. SHA-256 is preferred: both algorithms are safe, but most processors compute SHA-256 in
    /// hardware.
    var preferred: Checksum? { digests[.sha256] ?? digests[.sha512] }
}

extension RepresentationMetadata {
    init(_ head: ResponseHead, _ terms: DownloadTerms) {
        self.init()
        let coding = head.texts("Content-Encoding").joined(separator: ",").lowercased().filter { $0 != " " }
        contentEncoding = ["", "identity"].contains(coding) || coding.utf8.count > 128 ? nil : coding
        digest = terms.checksum == nil && !terms.ignoresDigests ? Self.digest(head, terms) : nil
        name = terms.isNamedByServer ? ServerFileName.choose(head, requested: terms.url) : nil
    }

    /// The digest of the whole file. Content-Digest covers only the bytes that are sent. A 206 response sends only a
    /// part of the file, so its Content-Digest is ignored. Repr-Digest describes the body only if the response
    /// represents the resource itself (RFC 9530, sections 2 and 3).
    private static func digest(_ head: ResponseHead, _ terms: DownloadTerms) -> Checksum? {
        guard !terms.hasNoBody(head.status) else { return nil }
        let isFile = terms.method == "GET" && (200...299).contains(head.status)
        if isFile, let digest = DigestField(head, "Repr-Digest").preferred { return digest }
        return head.status == 206 ? nil : DigestField(head, "Content-Digest").preferred
    }
}
