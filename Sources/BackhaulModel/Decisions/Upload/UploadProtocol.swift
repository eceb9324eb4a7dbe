/// One request of an upload.
public enum UploadStep: Equatable, Sendable {
    /// The request of the host, with the whole body.
    case whole
    /// Asks the server to make a resource for the upload. The request has no body.
    case create
    /// Asks how much of the body the server has.
    case probe(UploadResource)
    /// Asks which parts of the body the server has. The listing has the parts of the responses so far.
    case list(UploadResource, PartListing)
    /// Sends `count` bytes from the resource's offset on.
    case append(UploadResource, count: UInt64)
    /// Sends a part of the body.
    case part(UploadResource, UploadPart)
    /// Makes the object from its parts.
    case complete(UploadResource, [S3Part])

    public var resource: UploadResource? {
        switch self {
        case .whole, .create: nil
        case .probe(let resource), .list(let resource, _), .append(let resource, _), .complete(let resource, _),
            .part(let resource, _):
            resource
        }
    }

    /// The part that the step sends; nil if it sends none.
    public var part: UploadPart? { if case .part(_, let part) = self { part } else { nil } }

    /// Whether the server may have other bytes of the body than those that the step sends.
    public var continuesBody: Bool {
        switch self {
        case .append(let resource, _): resource.offset > 0
        case .part(let resource, let part): part.number > 1 || resource.offset > 0
        case .whole, .create, .probe, .list, .complete: false
        }
    }
}

/// What follows the response to a step.
public enum UploadVerdict: Equatable, Sendable {
    /// The response is the answer to the upload: the rules for statuses and types apply. `forgets`: the resource cannot
    /// be continued, so a further attempt starts at the first byte.
    case answer(forgets: Bool)
    /// The server has the whole body. Its answer to the upload was lost, or the protocol has none.
    case complete
    /// The upload continues with another request. `records`: the resource is stored before this request is sent.
    case next(UploadStep, records: Bool)
    /// The parts of the plan are sent to the resource. `records`: the resource is stored before the first of them.
    case parts(UploadResource, PartPlan, records: Bool)
    /// The server has the part of the step.
    case tookPart
    /// The resource does not exist any more, or does not belong to this body. The upload starts at the first byte.
    case startOver(Failure)
    /// The resource cannot be used now. The failure is retried later.
    case later(Failure)
}

/// The protocol of an upload, as decisions without I/O. The store has the numbers.
public enum UploadProtocol: Int32, Sendable, CaseIterable {
    /// HTTP cannot report how much of a body has arrived, so each attempt sends the whole body.
    case plain = 1
    case ietf = 3
    case tus = 4
    /// Version 01 of the IETF's draft.
    case apple = 5
    /// The multipart upload of S3.
    case s3 = 6

    /// With `ResumableUploads.automatic`, smaller bodies are sent by the plain protocol: it costs less to send such a
    /// body again than to ask about it.
    public static let automaticSize: UInt64 = 1 << 20

    /// - headers: the header fields of the host's request. If some of them belong to such a protocol, the host uses it
    /// itself, and `automatic` adds nothing.
    public init(_ choice: ResumableUploads, url: String = "", size: UInt64, headers: [HeaderField] = []) {
        guard !S3Object.isObject(url) else {
            self = .s3
            return
        }
        switch choice {
        case .never: self = .plain
        case .automatic:
            let isHosts = headers.contains { $0.name.lowercased().hasPrefix("upload-") }
            self = size >= Self.automaticSize && !isHosts ? .ietf : .plain
        case .ietf: self = .ietf
        case .apple: self = .apple
        case .tus: self = .tus
        }
    }

    /// The version of the IETF's draft that requests and responses name (appendix "Draft Version Identification"); nil:
    /// the protocol is another one. A server with another version sends no 104.
    var interopVersion: UInt64? {
        switch self {
        case .ietf: 8
        case .apple: 3
        case .plain, .tus, .s3: nil
        }
    }

    /// The first step of an attempt. `resource`: the resource that an earlier attempt has got. `size`: the size of the
    /// body.
    public func firstStep(_ resource: UploadResource?, size: UInt64) -> UploadStep {
        if let resource { return self == .s3 ? .list(resource, PartListing()) : .probe(resource) }
        return self == .tus || self == .s3 && size > Self.s3WholeSize ? .create : .whole
    }

    /// The method of a step; nil: the method of the host's request.
    public func method(of step: UploadStep) -> String? {
        switch step {
        case .whole: nil
        case .create, .complete: "POST"
        case .probe: "HEAD"
        case .list: "GET"
        case .append: "PATCH"
        case .part: "PUT"
        }
    }

    /// The header fields that the protocol adds to a step. `size`: the size of the body.
    public func fields(of step: UploadStep, size: UInt64) -> [HeaderField] {
        switch self {
        case .plain, .s3: []
        case .ietf, .apple: versionFields + draft(step, size)
        case .tus: versionFields + tus(step, size)
        }
    }

    /// The header fields that name the version of the protocol. The DELETE request that ends an upload and removes what
    /// the server has of it has no others.
    public var versionFields: [HeaderField] {
        if self == .tus { return [HeaderField("Tus-Resumable", "1.0.0")] }
        return interopVersion.map { [HeaderField("Upload-Draft-Interop-Version", String($0))] } ?? []
    }

    /// What an interim response says about the upload, if it has the status 104 and the version of the draft: the new
    /// resource or the new offset. `location`: its Location field as an absolute URL. `known`: the resource that is
    /// known already. `size`: the size of the body.
    public func resource(
        _ interim: ResponseHead, location: String?, known: UploadResource?, size: UInt64
    ) -> UploadResource? {
        guard let interopVersion, interim.status == 104,
            interim.integerItem("Upload-Draft-Interop-Version") == interopVersion
        else { return nil }
        // All interim responses to a request have the same URL. Another one is ignored.
        if let known, let location, location != known.url { return nil }
        guard var resource = known ?? location.map({ UploadResource(self, url: $0) }) else { return nil }
        resource.take(limits: interim)
        if let offset = interim.integerItem("Upload-Offset"), offset <= size {
            resource.offset = max(resource.offset, offset)
        }
        return resource
    }

    /// Whether the verdict on a response needs its body.
    public func readsBody(of head: ResponseHead, after step: UploadStep) -> Bool {
        guard self == .s3 else { return false }
        switch step {
        case .whole, .append, .part: return !head.isSuccess
        case .create, .probe, .list, .complete: return true
        }
    }

    /// - resource: the resource that the interim responses to a request with the whole body have announced.
    /// `wasBodySent`: whether the whole body of the step was sent before the response.
    /// `body`: the body of the response, if `readsBody`. `url`: the URL of the host's request.
    public func verdict(
        _ head: ResponseHead, _ body: [UInt8] = [], location: String?, after step: UploadStep, wasBodySent: Bool,
        resource: UploadResource?, url: String = "", size: UInt64
    ) -> UploadVerdict {
        switch (self, step) {
        case (.s3, _): return s3Verdict(head, body, after: step, url, size: size)
        case (.plain, _), (_, .list), (_, .complete), (_, .part): return .answer(forgets: false)
        case (_, .whole):
            // An error after the whole body may be the answer to it.
            let isAnswer = isComplete(head) ?? wasBodySent
            guard let resource, !isAnswer else { return .answer(forgets: resource != nil) }
            if head.isSuccess { return .next(.probe(resource), records: false) }
            return head.status >= 500 ? .later(.status(of: head, opensChallenges: true)) : .answer(forgets: true)
        case (_, .create): return created(head, location, size)
        case (_, .probe(let resource)): return probed(head, resource, size)
        case (.tus, .append(let resource, let count)): return tusAppended(head, resource, count, size)
        case (_, .append(let resource, let count)):
            return wasBodySent ? draftAppended(head, resource, count, size) : draftCut(head, resource)
        }
    }
}
