import CSimulation
import Glibc

/// A part of an upload to a server of S3. Its entity tag is its number in the memory of the run, so each part that
/// arrives has a tag of its own.
struct StoredPart {
    var upload: Int
    var number: Int64
    var size: Int64 = 0
    /// How many of its first bytes are those of the file.
    var matching: Int64 = 0
    /// Whether the server has it.
    var isStored = false
    /// Whether a list of the parts had it.
    var isListed = false

    static let size: Int64 = 8 << 20

    var start: Int64 { (number - 1) * Self.size }

    mutating func append(_ bytes: ArraySlice<UInt8>, of task: Int) {
        if matching == size {
            matching += Int64(Content.matching(bytes, task, version: 0, from: start + size))
        }
        size += Int64(bytes.count)
    }
}

/// A request that concerns an upload in parts, at a server of S3. The object of task T is /bucket/T.
final class ObjectExchange: Exchange {
    private let plan: TaskPlan
    private let upload: UploadPlan
    private let request: Request
    private let servers: Servers
    private let journal: Journal
    /// The upload of the request, if the server knows it.
    private var id: Int?
    /// The part whose bytes arrive.
    private var part: Int?
    /// The answer, if it does not depend on the bytes.
    private var answer: Answer?
    /// The body of the request that makes the object.
    private var list: [UInt8] = []
    private var bytesUntilCut: Int?

    init(_ plan: TaskPlan, _ upload: UploadPlan, _ request: Request, _ servers: Servers, _ journal: Journal) {
        (self.plan, self.upload, self.request) = (plan, upload, request)
        (self.servers, self.journal) = (servers, journal)
        if request.method != "DELETE" { servers.receive(request, for: plan, as: .uploadRequest) }
        answer = servers.fault(plan)
        if answer == nil { begin() }
    }

    private func begin() {
        guard request.query["uploads"] == nil else { return make() }
        guard let id = find() else { return answer = Self.error(404, "NoSuchUpload") }
        self.id = id
        servers.record(.uploadIsUsed, plan.number, Int64(id))
        journal.uploads[id].isUsed = true
        switch request.method {
        case "PUT": beginPart(of: id)
        case "GET": answer = .document(parts(of: id))
        case "DELETE":
            journal.uploads[id].isGone = true
            servers.record(.uploadIsRemoved, plan.number, Int64(id))
            answer = .status(204)
        default: break
        }
    }

    private static func error(_ status: Int, _ code: String) -> Answer {
        .document("<Error><Code>\(code)</Code><Message>\(code)</Message></Error>", status: status)
    }

    private func make() {
        if plan.resource.isMissing { return answer = Self.error(404, "NoSuchBucket") }
        let stored = StoredUpload(task: plan.number, size: plan.size, end: .max)
        guard let id = journal.add(stored) else { return answer = .status(500) }
        servers.record(.uploadIsMade, plan.number, Int64(id))
        answer =
            servers.losesAnswer(upload)
            ? .reset
            : .document(
                "<InitiateMultipartUploadResult><UploadId>\(id)</UploadId></InitiateMultipartUploadResult>")
    }

    private func find() -> Int? {
        guard let id = request.query["uploadId"].flatMap({ Int($0) }), id < journal.uploads.count,
            journal.uploads[id].task == plan.number
        else { return nil }
        if !journal.uploads[id].isGone, servers.mayFail, servers.happens(upload.lossPercent) {
            journal.uploads[id].isGone = true
        }
        guard !journal.uploads[id].isGone else {
            servers.record(.uploadIsLost, plan.number, Int64(id))
            return nil
        }
        if servers.mayFail, servers.happens(upload.shorteningPercent) { losePart(of: id) }
        return id
    }

    private func losePart(of id: Int) {
        let places = stored(id)
        guard !places.isEmpty else { return }
        let lost = places[Int(sim_random() % UInt64(places.count))]
        journal.parts[lost].isStored = false
        servers.record(.uploadIsShortened, plan.number, Int64(id), journal.parts[lost].start)
    }

    /// The places of the parts that the server has, in the order of their numbers.
    private func stored(_ id: Int) -> [Int] {
        journal.parts.indices.filter { journal.parts[$0].upload == id && journal.parts[$0].isStored }
            .sorted { journal.parts[$0].number < journal.parts[$1].number }
    }

    /// The list of the parts, of which the server sends two at a time.
    private func parts(of id: Int) -> String {
        let marker = request.query["part-number-marker"].flatMap { Int64($0) } ?? 0
        let rest = stored(id).filter { journal.parts[$0].number > marker }
        let items = rest.prefix(2).map { place in
            journal.parts[place].isListed = true
            let part = journal.parts[place]
            return "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(Self.tag(place))</ETag>"
                + "<Size>\(part.size)</Size></Part>"
        }
        return "<ListPartsResult><IsTruncated>\(rest.count > 2)</IsTruncated>\(items.joined())</ListPartsResult>"
    }

    private static func tag(_ place: Int) -> String { "\"\(place)\"" }

    private func beginPart(of id: Int) {
        guard let number = request.query["partNumber"].flatMap({ Int64($0) }) else { return answer = .status(400) }
        if stored(id).contains(where: { journal.parts[$0].number == number && journal.parts[$0].isListed }) {
            servers.record(.partIsSentAgain, plan.number, Int64(id), number)
        }
        part = journal.add(StoredPart(upload: id, number: number))
        if servers.mayFail, servers.happens(upload.cutPercent), request.body > 0 {
            bytesUntilCut = Int(sim_random() % UInt64(request.body))
        }
    }

    func take(_ bytes: ArraySlice<UInt8>) -> Bool {
        if request.method == "POST" { list += bytes }
        if let part { journal.parts[part].append(bytes, of: plan.number) }
        bytesUntilCut = bytesUntilCut.map { $0 - bytes.count }
        return bytesUntilCut ?? 0 >= 0
    }

    func stop() { (part, answer) = (nil, .reset) }

    func finish() -> Answer {
        if let answer { return answer }
        guard let id, !journal.uploads[id].isGone else { return Self.error(404, "NoSuchUpload") }
        guard let part else { return complete(id) }
        for old in stored(id) where journal.parts[old].number == journal.parts[part].number {
            journal.parts[old].isStored = false
        }
        journal.parts[part].isStored = true
        return servers.losesAnswer(upload) ? .reset : .status(200, fields: "ETag: \(Self.tag(part))\r\n")
    }

    /// Makes the object of the parts that the request names.
    private func complete(_ id: Int) -> Answer {
        if servers.losesAnswer(upload) { return Self.error(200, "InternalError") }
        let stored = stored(id)
        let text = String(decoding: list, as: UTF8.self)
        let named = text.components(between: "<ETag>", and: "</ETag>")
        let numbers = text.components(between: "<PartNumber>", and: "</PartNumber>")
        let places = named.compactMap { Int($0.filter(\.isNumber)) }
        guard !places.isEmpty, places.allSatisfy(stored.contains),
            places.map({ "\(journal.parts[$0].number)" }) == numbers, places == places.sorted(by: isBefore)
        else { return Self.error(400, "InvalidPart") }
        let found = places.map { journal.parts[$0] }
        let isWhole =
            found.allSatisfy { $0.matching == $0.size } && found.map(\.number) == (1...Int64(found.count)).map { $0 }
            && found.dropLast().allSatisfy { $0.size == StoredPart.size }
            && found.reduce(0) { $0 + $1.size } == plan.size
        (journal.uploads[id].isComplete, journal.uploads[id].isGone) = (true, true)
        servers.record(.upload, plan.number, isWhole ? 0 : -1, Int64(id))
        return servers.losesAnswer(upload)
            ? .reset : .document("<CompleteMultipartUploadResult><ETag>a</ETag></CompleteMultipartUploadResult>")
    }

    private func isBefore(_ one: Int, _ other: Int) -> Bool { journal.parts[one].number < journal.parts[other].number }
}

extension String {
    fileprivate func components(between start: String, and end: String) -> [String] {
        var (found, rest): ([String], Substring) = ([], self[...])
        while let first = rest.firstRange(of: start), let last = rest[first.upperBound...].firstRange(of: end) {
            found.append(String(rest[first.upperBound..<last.lowerBound]))
            rest = rest[last.upperBound...]
        }
        return found
    }
}

/// The metadata of a virtual machine (IMDSv2), which has the credentials for S3.
enum MetadataServer {
    /// The last number of its address 169.254.169.254.
    static let address: UInt32 = 254

    static func answer(_ request: Request, _ servers: Servers) -> Answer {
        if servers.isOut { return .silence }
        if servers.mayFail, sim_random() % 20 == 0 { return .status(500) }
        if request.method == "PUT" { return .document("token") }
        guard request.fields["x-aws-ec2-metadata-token"] == "token" else { return .status(401) }
        if request.path.hasSuffix("/") { return .document("role") }
        var (seconds, fields) = (time_t((servers.calendar + hour) / second), tm())
        gmtime_r(&seconds, &fields)
        let expiration = String(unsafeUninitializedCapacity: 40) {
            $0.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, 40, "%Y-%m-%dT%H:%M:%SZ", &fields) }
        }
        return .document(
            #"{"Code":"Success","AccessKeyId":"key","SecretAccessKey":"secret","Expiration":"\#(expiration)"}"#)
    }
}
