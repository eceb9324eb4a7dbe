/// The IETF's draft of resumable uploads (draft-ietf-httpbis-resumable-upload). The host's request says that it has the
/// whole body. A server that knows the draft responds with 104 and the URL of a resource, and then with its answer to
/// the upload. After an interruption, HEAD returns the offset, and PATCH sends the rest.
///
/// Version 01 of the draft, which Apple's systems use, says `Upload-Incomplete` where later versions say
/// `Upload-Complete`, and has no media type for PATCH.
extension UploadProtocol {
    func draft(_ step: UploadStep, _ size: UInt64) -> [HeaderField] {
        switch step {
        case .whole where self == .apple: return [completion(true)]
        case .whole: return [completion(true), HeaderField("Upload-Length", String(size))]
        case .create, .probe, .list, .complete, .part: return []
        case .append(let resource, let count):
            let fields = [
                completion(resource.offset + count == size), HeaderField("Upload-Offset", String(resource.offset)),
            ]
            return self == .apple ? fields : fields + [HeaderField("Content-Type", "application/partial-upload")]
        }
    }

    private func completion(_ isComplete: Bool) -> HeaderField {
        self == .apple
            ? HeaderField("Upload-Incomplete", isComplete ? "?0" : "?1")
            : HeaderField("Upload-Complete", isComplete ? "?1" : "?0")
    }

    /// Whether the response says that the upload is complete; nil if it says nothing about that.
    func isComplete(_ head: ResponseHead) -> Bool? {
        self == .apple
            ? head.booleanItem("Upload-Incomplete").map { !$0 } : head.booleanItem("Upload-Complete")
    }

    /// The verdict on the response to HEAD, in both protocols.
    func probed(_ head: ResponseHead, _ resource: UploadResource, _ size: UInt64) -> UploadVerdict {
        guard (200..<300).contains(head.status) else { return unusable(head, resource) }
        guard let offset = head.integerItem("Upload-Offset"), offset <= size,
            head.integerItem("Upload-Length") ?? size == size
        else { return .startOver(.lostUpload("reports another size or no offset", resource, head)) }
        if self == .tus, offset == size { return .complete }
        if self != .tus, isComplete(head) == true {
            return offset == size
                ? .complete : .startOver(.lostUpload("ended the upload at byte \(offset)", resource, head))
        }
        return .next(rest(of: resource, from: offset, head, size), records: offset > resource.offset)
    }

    func draftAppended(
        _ head: ResponseHead, _ resource: UploadResource, _ count: UInt64, _ size: UInt64
    ) -> UploadVerdict {
        let end = resource.offset + count
        if isComplete(head) == true {
            return end == size
                ? .answer(forgets: true) : .startOver(.lostUpload("ended the upload at byte \(end)", resource, head))
        }
        guard (200..<300).contains(head.status) else { return refused(head, resource) }
        // After the last bytes, the server must say that the upload is complete.
        if end == size || head.integerItem("Upload-Offset") ?? end != end {
            return .next(.probe(resource), records: false)
        }
        return .next(rest(of: resource, from: end, head, size), records: true)
    }

    /// The verdict on a response that came before the bytes were sent: a success says nothing about them.
    func draftCut(_ head: ResponseHead, _ resource: UploadResource) -> UploadVerdict {
        (200..<300).contains(head.status) ? .next(.probe(resource), records: false) : refused(head, resource)
    }

    /// The step that sends the rest of the body, or as much of it as the server takes at a time.
    func rest(of resource: UploadResource, from offset: UInt64, _ head: ResponseHead, _ size: UInt64) -> UploadStep {
        var resource = resource
        resource.offset = offset
        resource.take(limits: head)
        let rest = size - offset
        return .append(resource, count: min(rest, resource.longestAppend ?? rest))
    }

    /// The verdict on an error in response to HEAD. Only some statuses of errors may pass.
    private func unusable(_ head: ResponseHead, _ resource: UploadResource) -> UploadVerdict {
        switch head.status {
        // 409 and 423: the server has not noticed yet that an earlier connection has ended.
        case 408, 409, 423, 425, 429, 500...: .later(.status(of: head, opensChallenges: true))
        default: .startOver(.lostUpload("responded with status \(head.status)", resource, head))
        }
    }

    /// The verdict on an error in response to PATCH.
    func refused(_ head: ResponseHead, _ resource: UploadResource) -> UploadVerdict {
        switch head.status {
        // 409: the offset was wrong; 460: the checksum was wrong, and the bytes were discarded (tus).
        case 409, 460: .next(.probe(resource), records: false)
        case 404, 410, 408, 423, 425, 429, 500...: unusable(head, resource)
        // Other errors are about the body or the client. A new resource would get the same error.
        default: .answer(forgets: false)
        }
    }
}

extension UploadResource {
    /// The smallest limit of a request that is respected. A server with a smaller one could cause a request for each
    /// byte.
    static let leastAppend: UInt64 = 1 << 16

    /// Takes the limits of a response.
    mutating func take(limits head: ResponseHead) {
        let texts = head.texts("Upload-Limit")
        guard !texts.isEmpty, let members = StructuredFieldReader.dictionary(texts.joined(separator: ", ")),
            case .integer(let most)? = members.last(where: { $0.key == "max-append-size" })?.value, most > 0
        else { return }
        longestAppend = max(UInt64(most), Self.leastAppend)
    }
}

extension Failure {
    static func lostUpload(_ reason: String, _ resource: UploadResource, _ head: ResponseHead) -> Failure {
        Failure(
            .badResponse, "the upload is lost: \(ShownURL(resource.url).withoutQuery) \(reason)",
            domain: .http, detail: Int64(head.status))
    }
}
