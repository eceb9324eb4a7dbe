/// tus 1.0 (https://tus.io/protocols/resumable-upload): POST makes a resource, HEAD returns its offset, and PATCH sends
/// the rest.
extension UploadProtocol {
    func tus(_ step: UploadStep, _ size: UInt64) -> [HeaderField] {
        switch step {
        case .create: [HeaderField("Upload-Length", String(size))]
        case .whole, .probe, .list, .complete, .part: []
        case .append(let resource, _):
            [
                HeaderField("Upload-Offset", String(resource.offset)),
                HeaderField("Content-Type", "application/offset+octet-stream"),
            ]
        }
    }

    func created(_ head: ResponseHead, _ location: String?, _ size: UInt64) -> UploadVerdict {
        guard head.isSuccess else { return .answer(forgets: false) }
        guard let location else {
            return .later(
                Failure(
                    .badResponse, "\(head.origin) made no resource for the upload: it sent no valid Location field",
                    domain: .http, detail: Int64(head.status)))
        }
        // The resource may have all bytes of an empty body already, but only a request with a body ends the upload.
        return .next(rest(of: UploadResource(self, url: location), from: 0, head, size), records: true)
    }

    func tusAppended(
        _ head: ResponseHead, _ resource: UploadResource, _ count: UInt64, _ size: UInt64
    ) -> UploadVerdict {
        switch head.status {
        case 200..<300:
            let end = resource.offset + count
            guard let offset = head.integerItem("Upload-Offset"), offset > resource.offset, offset <= end else {
                return size == resource.offset ? .complete : .next(.probe(resource), records: false)
            }
            return offset == size ? .complete : .next(rest(of: resource, from: offset, head, size), records: true)
        default: return refused(head, resource)
        }
    }
}
