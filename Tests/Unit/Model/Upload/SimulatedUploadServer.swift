import BackhaulModel

/// A server of resumable uploads (two versions of draft-ietf-httpbis-resumable-upload, and tus 1.0) without I/O. It has
/// the lengths of bodies, not their bytes: it takes only bytes that follow those it has.
struct SimulatedUploadServer {
    private struct Upload {
        var length: UInt64 = 0
        var hasEnded = false
    }

    let choice: ResumableUploads
    let size: UInt64
    /// The most bytes of one request; nil: no limit.
    var longestAppend: UInt64?
    private var uploads: [String: Upload] = [:]
    private var lastNumber = 0
    /// How many bodies are whole.
    private(set) var wholeBodies = 0

    init(_ choice: ResumableUploads, size: UInt64, longestAppend: UInt64?) {
        (self.choice, self.size, self.longestAppend) = (choice, size, longestAppend)
    }

    private var isTus: Bool { choice == .tus }

    /// The field that says whether an upload is complete.
    private func completion(_ isComplete: Bool) -> (String, String) {
        choice == .apple
            ? ("Upload-Incomplete", isComplete ? "?0" : "?1") : ("Upload-Complete", isComplete ? "?1" : "?0")
    }

    private func isLast(_ fields: [HeaderField]) -> Bool {
        let (name, value) = completion(true)
        return fields.contains { $0.name == name && $0.value == value }
    }

    /// All uploads are forgotten, as after a start with an empty disk.
    mutating func forget() { uploads = [:] }

    /// Responds to a request. - cut: after how many bytes of the body the connection is lost; nil: it is not.
    mutating func respond(
        to step: UploadStep, _ fields: [HeaderField], cut: UInt64?
    ) -> [UploadMachine.Event] {
        switch step {
        case .create:
            // An empty upload is whole at once.
            if size == 0 { wholeBodies += 1 }
            return [.head(head(201), nil, location: make()), .transferComplete()]
        case .whole:
            guard isLast(fields) else {
                if cut != nil { return [Self.lost] }
                wholeBodies += 1
                return answer(200)
            }
            let url = make()
            let version = ("Upload-Draft-Interop-Version", choice == .apple ? "3" : "8")
            return [.interim(head(104, [version]), location: url)] + append(size, to: url, ends: true, cut)
        case .probe(let resource):
            guard let upload = uploads[resource.url] else { return answer(404) }
            return answer(204, [("Upload-Offset", String(upload.length)), completion(upload.hasEnded)])
        case .list, .complete, .part: return answer(400)
        case .append(let resource, let count):
            guard let upload = uploads[resource.url] else { return answer(404) }
            guard upload.length == resource.offset, !upload.hasEnded, count <= longestAppend ?? count else {
                return answer(409)
            }
            let ends = isTus ? resource.offset + count == size : isLast(fields)
            return append(count, to: resource.url, ends: ends, cut)
        }
    }

    func answer(_ status: Int32, _ fields: [(String, String)] = []) -> [UploadMachine.Event] {
        [.head(head(status, fields), nil), .transferComplete()]
    }

    static let lost = UploadMachine.Event.transferFailed(Failure(.connectionLost, "broken"), isTransient: true)

    private mutating func make() -> String {
        lastNumber += 1
        let url = "http://a/uploads/\(lastNumber)"
        uploads[url] = Upload()
        return url
    }

    private mutating func append(
        _ count: UInt64, to url: String, ends: Bool, _ cut: UInt64?
    ) -> [UploadMachine.Event] {
        let taken = min(count, cut ?? count)
        uploads[url]?.length += taken
        // With tus, the last byte ends the upload. With the draft, the end of the request does.
        if isTus, taken > 0, uploads[url]?.length == size { wholeBodies += 1 }
        guard cut == nil, let length = uploads[url]?.length else { return [Self.lost] }
        uploads[url]?.hasEnded = ends
        if ends, !isTus { wholeBodies += 1 }
        return answer(ends ? 200 : 204, [("Upload-Offset", String(length)), completion(ends)])
    }

    private func head(_ status: Int32, _ fields: [(String, String)] = []) -> ResponseHead {
        let limits = longestAppend.map { [ResponseField("Upload-Limit", "max-append-size=\($0)")] } ?? []
        return ResponseHead(
            status: status, finalURL: "http://a/f", isMultiplexed: false,
            fields: fields.map { ResponseField($0.0, $0.1) } + limits, origin: "http://a:80")
    }
}
