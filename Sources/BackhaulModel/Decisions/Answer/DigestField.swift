/// Repr-Digest or Content-Digest (RFC 9530): a dictionary of structured fields (RFC 8941, section 3.2) whose members
/// are byte sequences. Written by hand, because no library of ours reads structured fields.
struct DigestField {
    /// Those of algorithms that we know, and of the right length.
    private(set) var digests: [Checksum.Algorithm: Checksum] = [:]

    /// A server that sends more says nothing of use.
    private static let longest = 4_096

    /// Empty when the field is not there or malformed anywhere: a part of such a field counts for nothing (RFC 8941,
    /// section 4.2).
    init(_ head: ResponseHead, _ name: String) {
        let bytes = Array(head.allBytes(name).joined(separator: ", ".utf8))
        guard bytes.count <= Self.longest, let text = ResponseField(name, bytes).text else { return }
        var reader = StructuredFieldReader(text)
        guard let members = reader.dictionary() else { return }
        for member in members {
            guard let algorithm = Checksum.Algorithm(rawValue: member.key) else { continue }
            // A later member takes the place of an earlier one, whatever it is.
            let bytes = member.bytes.flatMap { $0.count == algorithm.size ? $0 : nil }
            digests[algorithm] = bytes.map { Checksum(algorithm, $0) }
        }
    }

    /// The one to verify: either is as good as the other, and the shorter is hardware's own on most machines.
    var preferred: Checksum? { digests[.sha256] ?? digests[.sha512] }
}

extension RepresentationFacts {
    init(_ head: ResponseHead, _ terms: DownloadTerms) {
        self.init()
        let coding = head.texts("Content-Encoding").joined(separator: ",").lowercased().filter { $0 != " " }
        contentEncoding = ["", "identity"].contains(coding) || coding.utf8.count > 128 ? nil : coding
        digest = terms.checksum == nil && !terms.ignoresDigests ? Self.digest(head, terms) : nil
        name = terms.isNamedByServer ? ServerFileName.choose(head, requested: terms.url) : nil
    }

    /// Of the whole file. Content-Digest is of the bytes that are sent, which of a 206 are a part only; Repr-Digest may
    /// be of something else than the body when the answer is not the resource itself (RFC 9530, sections 2 and 3).
    private static func digest(_ head: ResponseHead, _ terms: DownloadTerms) -> Checksum? {
        guard !terms.hasNoBody(head.status) else { return nil }
        let isFile = terms.method == "GET" && (200...299).contains(head.status)
        if isFile, let digest = DigestField(head, "Repr-Digest").preferred { return digest }
        return head.status == 206 ? nil : DigestField(head, "Content-Digest").preferred
    }
}
