/// The IETF's draft of resumable uploads (draft-ietf-httpbis-resumable-upload). The host's request says that it has the
/// whole body. A server that knows the draft responds with 104 and the URL of a resource, and then with its answer to
/// the upload. After an interruption, HEAD returns the offset, and PATCH sends the rest.
extension UploadProtocol {
    /// The version of the draft (appendix "Draft Version Identification"). A server with another version sends no 104.
    static let interopVersion: UInt64 = 8

    func draft(_ step: UploadStep, _ size: UInt64) -> [HeaderField] {
        switch step {
        case .whole: [HeaderField("Upload-Complete", "?1"), HeaderField("Upload-Length", String(size))]
        case .create, .probe: []
        case .append(let resource, let count):
            [
                HeaderField("Upload-Complete", resource.offset + count == size ? "?1" : "?0"),
                HeaderField("Upload-Offset", String(resource.offset)),
                HeaderField("Content-Type", "application/partial-upload"),
            ]
        }
    }

    /// The verdict on the response to HEAD, in both protocols.
    func probed(_ head: ResponseHead, _ resource: UploadResource, _ size: UInt64) -> UploadVerdict {
        guard (200..<300).contains(head.status) else { return unusable(head, resource) }
        guard let offset = head.integerItem("Upload-Offset"), offset <= size,
            head.integerItem("Upload-Length") ?? size == size
        else { return .startOver(.lostUpload("reports another size or no offset", resource, head)) }
        if self == .tus, offset == size { return .complete }
        if self == .ietf, head.booleanItem("Upload-Complete") == true {
            return offset == size
                ? .complete : .startOver(.lostUpload("ended the upload at byte \(offset)", resource, head))
        }
        return .next(rest(of: resource, from: offset, head, size), records: offset > resource.offset)
    }

    func draftAppended(
        _ head: ResponseHead, _ resource: UploadResource, _ count: UInt64, _ size: UInt64
    ) -> UploadVerdict {
        let isComplete = head.booleanItem("Upload-Complete")
        if isComplete == true { return .answer(forgets: true) }
        guard (200..<300).contains(head.status) else {
            return head.status == 409 ? .next(.probe(resource), records: false) : unusable(head, resource)
        }
        let end = resource.offset + count
        // After the last bytes, the server must say that the upload is complete.
        if end == size { return .next(.probe(resource), records: false) }
        return .next(rest(of: resource, from: end, head, size), records: true)
    }

    /// The step that sends the rest of the body, or as much of it as the server takes at a time.
    func rest(of resource: UploadResource, from offset: UInt64, _ head: ResponseHead, _ size: UInt64) -> UploadStep {
        var resource = resource
        resource.offset = offset
        resource.take(limits: head)
        let rest = size - offset
        return .append(resource, count: min(rest, resource.longestAppend ?? rest))
    }

    /// The verdict on a response after which the resource is gone or cannot be used now.
    func unusable(_ head: ResponseHead, _ resource: UploadResource) -> UploadVerdict {
        switch head.status {
        // 409 and 423: the server has not noticed yet that an earlier connection has ended.
        case 408, 409, 423, 425, 429, 500...: .later(.status(of: head, opensChallenges: true))
        default: .startOver(.lostUpload("responded with status \(head.status)", resource, head))
        }
    }
}

extension UploadResource {
    /// Takes the limits of a response. An offer of less than one byte is ignored.
    mutating func take(limits head: ResponseHead) {
        let texts = head.texts("Upload-Limit")
        guard !texts.isEmpty, let members = StructuredFieldReader.dictionary(texts.joined(separator: ", ")),
            case .integer(let most)? = members.last(where: { $0.key == "max-append-size" })?.value, most > 0
        else { return }
        longestAppend = UInt64(most)
    }
}

extension Failure {
    static func lostUpload(_ reason: String, _ resource: UploadResource, _ head: ResponseHead) -> Failure {
        Failure(
            .badResponse, "\(ShownURL(resource.url).withoutQuery) \(reason), so the upload starts at its first byte",
            domain: .http, detail: Int64(head.status))
    }
}
