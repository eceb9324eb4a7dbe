/// The multipart upload of S3: POST makes an upload with an id, PUT sends a part, GET lists the parts that the server
/// has, and POST with the list of all parts makes the object. The offset of the resource is the size of the sent parts
/// together, and `longestAppend` is the size of a part. A `PartPlan` decides which part is sent next.
extension UploadProtocol {
    /// Larger bodies are sent in parts.
    public static let s3WholeSize: UInt64 = 16 << 20
    static let s3PartSize: UInt64 = 8 << 20
    static let s3MostParts: UInt64 = 10_000
    /// The most bytes of an upload's id, and of a part's entity tag. The texts of AWS are shorter.
    static let s3LongestText = 1_024

    /// The size of all parts but the last: a number of MiB, so that there are at most 10,000 parts.
    static func s3PartSize(of size: UInt64) -> UInt64 {
        let least = size / s3MostParts + (size % s3MostParts == 0 ? 0 : 1)
        let mebibyte: UInt64 = 1 << 20
        return max(s3PartSize, (least + mebibyte - 1) / mebibyte * mebibyte)
    }

    /// The URL of a step. `url`: the URL of the host's request.
    public func url(of step: UploadStep, _ url: String) -> String {
        guard self == .s3 else { return step.resource?.url ?? url }
        switch step {
        case .whole: return url
        case .create: return url + "?uploads="
        case .probe(let resource), .complete(let resource, _), .append(let resource, _): return resource.url
        case .list(let resource, let listing):
            // Without the limit, some servers send 10,000 parts: more than an `S3Document` may have.
            return resource.url + "&max-parts=1000"
                + (listing.marker == 0 ? "" : "&part-number-marker=\(listing.marker)")
        case .part(let resource, let part): return resource.url + "&partNumber=\(part.number)"
        }
    }

    /// The fields of the host's request that a step of S3 has. Those that describe the object belong to the request
    /// that makes the upload, and conditions belong to the request that makes the object.
    public static func s3Fields(of step: UploadStep, _ fields: [HeaderField]) -> [HeaderField] {
        let conditions = ["if-match", "if-none-match"]
        return fields.filter { field in
            let name = field.name.lowercased()
            let isForAll =
                name.hasPrefix("x-amz-server-side-encryption-customer-")
                || ["x-amz-request-payer", "x-amz-expected-bucket-owner"].contains(name)
            return switch step {
            case .whole: true
            case .create: !conditions.contains(name)
            case .complete: isForAll || conditions.contains(name)
            case .probe, .list, .append, .part: isForAll
            }
        }
    }

    /// The body of the request that makes the object from its parts.
    public static func s3Completion(_ parts: [S3Part]) -> [UInt8] {
        let list = parts.map {
            "<Part><PartNumber>\($0.number)</PartNumber><ETag>\(S3Document.escaped($0.entityTag))</ETag></Part>"
        }
        return Array(
            ("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" + list.joined()
                + "</CompleteMultipartUpload>").utf8)
    }

    /// The verdict on a response to a step of S3. `body`: the body of the response, whose XML has the result.
    func s3Verdict(_ head: ResponseHead, _ body: [UInt8], after step: UploadStep, _ url: String, size: UInt64)
        -> UploadVerdict
    {
        guard head.isSuccess else { return s3Refused(head, body, step) }
        switch step {
        case .whole, .probe, .append: return .answer(forgets: false)
        case .create: return s3Created(head, body, url, size)
        case .list(let resource, let listing): return s3Listed(head, body, resource, listing, size)
        case .part: return .tookPart
        case .complete(let resource, _):
            guard let error = S3Error(body) else {
                let isResult = S3Document(body)?.root.name == "CompleteMultipartUploadResult"
                return isResult ? .complete : .later(.s3("a response that is no result of an upload", head))
            }
            return s3Failed(head, error, resource)
        }
    }

    private func s3Created(_ head: ResponseHead, _ body: [UInt8], _ url: String, _ size: UInt64) -> UploadVerdict {
        guard let root = S3Document(body)?.root, root.name == "InitiateMultipartUploadResult",
            let id = root["UploadId"], !id.isEmpty, id.utf8.count <= Self.s3LongestText
        else { return .later(.s3("no id for the upload", head)) }
        let partSize = Self.s3PartSize(of: size)
        let resource = UploadResource(
            .s3, url: url + "?uploadId=" + S3Object.encoded(id.utf8), longestAppend: partSize)
        return .parts(resource, PartPlan(size: size, partSize: partSize), records: true)
    }

    private func s3Listed(
        _ head: ResponseHead, _ body: [UInt8], _ resource: UploadResource, _ listing: PartListing, _ size: UInt64
    ) -> UploadVerdict {
        var (resource, listing) = (resource, listing)
        guard listing.add(body) else { return .later(.s3("no valid list of parts", head)) }
        if listing.isTruncated { return .next(.list(resource, listing), records: false) }
        let known = resource.offset
        let partSize = resource.longestAppend ?? Self.s3PartSize(of: size)
        let parts = listing.usable(partSize: partSize, of: size)
        let plan = PartPlan(size: size, partSize: partSize, sent: parts.map(\.number))
        resource.offset = plan.sentBytes
        let records = resource.offset != known
        return plan.isSent
            ? .next(.complete(resource, parts), records: records) : .parts(resource, plan, records: records)
    }

    private func s3Refused(_ head: ResponseHead, _ body: [UInt8], _ step: UploadStep) -> UploadVerdict {
        let error = S3Error(body)
        if let error, error.isTemporary { return .later(.temporary(error, head)) }
        guard let resource = step.resource else { return .answer(forgets: false) }
        if let error { return s3Failed(head, error, resource) }
        switch head.status {
        case 404: return .startOver(.lostUpload("does not exist any more", resource, head))
        case 408, 425, 429, 500...: return .later(.status(of: head, opensChallenges: true))
        default: return .answer(forgets: false)
        }
    }

    private func s3Failed(_ head: ResponseHead, _ error: S3Error, _ resource: UploadResource) -> UploadVerdict {
        switch error.code {
        case "NoSuchUpload": .startOver(.lostUpload("does not know the upload any more", resource, head))
        // The body of a response with the status 200 may be an error, because the status was sent before the result was
        // known.
        case _ where head.isSuccess: .later(.temporary(error, head))
        case _ where head.status >= 500 || [408, 425, 429].contains(head.status):
            .later(.status(of: head, opensChallenges: true))
        default: .answer(forgets: false)
        }
    }
}

/// A part of an upload that a server of S3 has.
public struct S3Part: Equatable, Sendable {
    public var number: UInt64
    public var size: UInt64
    public var entityTag: String
}

/// The list of the parts of an upload, of which a server sends up to 1,000 at a time.
public struct PartListing: Equatable, Sendable {
    public private(set) var parts: [S3Part] = []
    /// The number of the last part that the server has sent.
    public private(set) var marker: UInt64 = 0
    public private(set) var isTruncated = false

    public init() {}

    /// Adds the parts of a response. Returns false if it is no list, or if the list does not come to its end.
    mutating func add(_ body: [UInt8]) -> Bool {
        // Some servers have another word for the result.
        guard let root = S3Document(body)?.root, root.name.hasPrefix("ListParts") else { return false }
        for element in root.children where element.name == "Part" {
            guard let number = element["PartNumber"].flatMap({ UInt64(digits: $0) }), number > parts.last?.number ?? 0,
                let size = element["Size"].flatMap({ UInt64(digits: $0) }), let tag = element["ETag"],
                tag.utf8.count <= UploadProtocol.s3LongestText,
                parts.count < UploadProtocol.s3MostParts
            else { return false }
            parts.append(S3Part(number: number, size: size, entityTag: tag))
        }
        isTruncated = root["IsTruncated"] == "true"
        let last = parts.last?.number ?? 0
        if isTruncated, last <= marker { return false }
        marker = last
        return true
    }

    /// The parts of the body that have their right sizes.
    func usable(partSize: UInt64, of size: UInt64) -> [S3Part] {
        let count = PartPlan.count(of: size, partSize: partSize)
        return parts.filter { $0.number <= count && $0.size == min(partSize, size - ($0.number - 1) * partSize) }
    }
}

extension Failure {
    /// An error that may pass. In a response without an error status, it counts as 500.
    fileprivate static func temporary(_ error: S3Error, _ head: ResponseHead) -> Failure {
        Failure(
            .httpStatus,
            "\(head.origin) sent the error \(PlainText.of(error.code + ": " + error.message, atMost: 200))",
            domain: .http, detail: head.status < 500 ? 500 : Int64(head.status))
    }

    fileprivate static func s3(_ sent: String, _ head: ResponseHead) -> Failure {
        Failure(.badResponse, "\(head.origin) sent \(sent)", domain: .http, detail: Int64(head.status))
    }
}
