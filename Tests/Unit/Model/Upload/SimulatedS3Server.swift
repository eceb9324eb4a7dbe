import BackhaulModel

/// A server of S3 without I/O. It has the lengths of parts, not their bytes.
struct SimulatedS3Server {
    let size: UInt64
    private var uploads: [String: [UInt64: UInt64]] = [:]
    private var lastNumber = 0
    /// How many parts a list has.
    private let page = 3
    /// The lengths of the objects that were made.
    private(set) var objects: [UInt64] = []
    /// The body of the last response.
    private(set) var body: [UInt8] = []

    init(size: UInt64) { self.size = size }

    mutating func forget() { uploads = [:] }

    /// Responds to a request. - url: the URL of the request. `cut`: after how many bytes of the body the connection is
    /// lost; nil: it is not. `losesResponse`: whether the connection is lost after the request was performed.
    mutating func respond(
        to step: UploadStep, _ url: String, cut: UInt64?, losesResponse: Bool
    ) -> [UploadMachine.Event] {
        guard cut == nil else { return [SimulatedUploadServer.lost] }
        let status = perform(step, url)
        return losesResponse ? [SimulatedUploadServer.lost] : answer(status)
    }

    mutating func error(_ status: Int32, _ code: String) -> [UploadMachine.Event] {
        body = Array("<Error><Code>\(code)</Code><Message>a &lt; b</Message></Error>".utf8)
        return answer(status)
    }

    private func answer(_ status: Int32) -> [UploadMachine.Event] {
        let head = ResponseHead(
            status: status, finalURL: "s3://bucket/key", isMultiplexed: false, fields: [], origin: "http://a:80")
        return [.head(head, nil), .transferComplete()]
    }

    private mutating func refused(_ code: String, _ status: Int32) -> Int32 {
        body = Array("<Error><Code>\(code)</Code></Error>".utf8)
        return status
    }

    private mutating func perform(_ step: UploadStep, _ url: String) -> Int32 {
        body = []
        guard let resource = step.resource else {
            if step == .whole {
                objects.append(size)
                return 200
            }
            lastNumber += 1
            uploads["s3://bucket/key?uploadId=\(lastNumber)"] = [:]
            body = Array(
                "<InitiateMultipartUploadResult><UploadId>\(lastNumber)</UploadId></InitiateMultipartUploadResult>".utf8
            )
            return 200
        }
        guard let parts = uploads[resource.url] else { return refused("NoSuchUpload", 404) }
        switch step {
        case .part(_, let part):
            guard let number = Self.number(in: url, after: "partNumber") else { return refused("InvalidArgument", 400) }
            uploads[resource.url]?[number] = part.count
        case .list:
            let after = Self.number(in: url, after: "part-number-marker") ?? 0
            let rest = parts.keys.sorted().filter { $0 > after }
            let shown = rest.prefix(page).map {
                "<Part><PartNumber>\($0)</PartNumber><Size>\(parts[$0] ?? 0)</Size><ETag>\"\($0)\"</ETag></Part>"
            }
            let isTruncated = rest.count > page ? "true" : "false"
            body = Array(
                "<ListPartsResult><IsTruncated>\(isTruncated)</IsTruncated>\(shown.joined())</ListPartsResult>".utf8)
        case .complete(_, let list):
            guard list.map(\.number) == Array(1...UInt64(parts.count)) else { return refused("InvalidPart", 400) }
            objects.append(list.reduce(0) { $0 + (parts[$1.number] ?? 0) })
            uploads[resource.url] = nil
            body = Array("<CompleteMultipartUploadResult/>".utf8)
        case .whole, .create, .probe, .append: return 400
        }
        return 200
    }

    private static func number(in url: String, after name: String) -> UInt64? {
        url.firstRange(of: name + "=").flatMap { UInt64(url[$0.upperBound...].prefix { $0.isNumber }) }
    }
}
