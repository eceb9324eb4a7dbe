/// What the IETF's draft and tus have in common: a resource has an offset. HEAD returns the offset, and PATCH sends the
/// bytes from there on.
extension UploadProtocol {
    /// The verdict on the response to HEAD.
    func probed(_ head: ResponseHead, _ resource: UploadResource, _ size: UInt64) -> UploadVerdict {
        guard head.isSuccess else { return unusable(head, resource) }
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

    /// The step that sends the rest of the body, or as much of it as the server takes at a time.
    func rest(of resource: UploadResource, from offset: UInt64, _ head: ResponseHead, _ size: UInt64) -> UploadStep {
        var resource = resource
        resource.offset = offset
        resource.take(limits: head)
        let rest = size - offset
        return .append(resource, count: min(rest, resource.longestAppend ?? rest))
    }

    /// The verdict on an error in response to HEAD. A status about the client's credential, or about the server's load,
    /// does not say that the resource is lost. With others, the upload could never continue: tuspyserver 4.4 responds
    /// with 400 if the upload has no file name.
    private func unusable(_ head: ResponseHead, _ resource: UploadResource) -> UploadVerdict {
        switch head.status {
        // 409 and 423: the server has not noticed yet that an earlier connection has ended.
        case 401, 407, 408, 409, 423, 425, 429, 500...: .later(.status(of: head, opensChallenges: true))
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
