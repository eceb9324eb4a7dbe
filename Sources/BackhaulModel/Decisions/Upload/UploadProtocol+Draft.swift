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

    func draftAppended(
        _ head: ResponseHead, _ resource: UploadResource, _ count: UInt64, _ size: UInt64
    ) -> UploadVerdict {
        let end = resource.offset + count
        if isComplete(head) == true {
            return end == size
                ? .answer(forgets: true) : .startOver(.lostUpload("ended the upload at byte \(end)", resource, head))
        }
        guard head.isSuccess else { return refused(head, resource) }
        // After the last bytes, the server must say that the upload is complete.
        if end == size || head.integerItem("Upload-Offset") ?? end != end {
            return .next(.probe(resource), records: false)
        }
        return .next(rest(of: resource, from: end, head, size), records: true)
    }

    /// The verdict on a response that came before the bytes were sent: a success says nothing about them.
    func draftCut(_ head: ResponseHead, _ resource: UploadResource) -> UploadVerdict {
        head.isSuccess ? .next(.probe(resource), records: false) : refused(head, resource)
    }
}
