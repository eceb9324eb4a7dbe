import CSimulation

/// The servers that can continue uploads: by the IETF's draft, and by tus. An upload with the number N of task T is at
/// the path /T/N.
final class UploadServers {
    private unowned let servers: Servers
    private let journal: Journal
    /// The requests whose bytes arrive at this time, by the uploads that get them.
    fileprivate var holders: [Int: UploadExchange] = [:]
    /// Until when a server believes that a connection still sends, although it has ended.
    private var locks: [Int: Int64] = [:]

    init(_ servers: Servers, _ journal: Journal) { (self.servers, self.journal) = (servers, journal) }

    /// Begins the exchange of a request to a server; nil if it belongs to no such upload.
    func begin(_ request: Request, at server: UInt32) -> (any Exchange)? {
        guard let plan = servers.plan(request), let upload = plan.upload else { return nil }
        if !request.query.isEmpty, upload.kind == .s3 {
            return ObjectExchange(plan, upload, request, servers, journal)
        }
        return UploadExchange(plan, upload, request, at: server, servers, self)
    }

    /// Whether a server has a part of an upload of a task, although the task has ended.
    func hasRemains(of task: Int) -> Bool {
        journal.uploads.contains { $0.task == task && $0.isUsed && !$0.isGone && !$0.isComplete }
    }

    fileprivate subscript(id: Int) -> StoredUpload {
        get { journal.uploads[id] }
        set { journal.uploads[id] = newValue }
    }

    fileprivate func make(_ plan: TaskPlan, _ upload: UploadPlan, size: Int64) -> Int? {
        let end = upload.lifetime > 0 ? servers.now + upload.lifetime : .max
        guard let id = journal.add(StoredUpload(task: plan.number, size: size, end: end)) else { return nil }
        servers.record(.uploadIsMade, plan.number, Int64(id))
        return id
    }

    /// The upload of a task with the number in a path; nil if the server does not know it any more.
    fileprivate func find(_ number: Int, _ plan: TaskPlan, _ upload: UploadPlan) -> Int? {
        guard number < journal.uploads.count, self[number].task == plan.number, !self[number].isGone else { return nil }
        if servers.mayFail, servers.now > self[number].end || servers.happens(upload.lossPercent) {
            self[number].isGone = true
            return nil
        }
        if servers.mayFail, servers.happens(upload.shorteningPercent), !self[number].isComplete, self[number].offset > 0
        {
            self[number].shorten(to: Int64(sim_random() % UInt64(self[number].offset)))
            self[number].hasLostBytes = true
            servers.record(.uploadIsShortened, plan.number, Int64(number), self[number].offset)
        }
        return number
    }

    fileprivate func isLocked(_ id: Int, _ upload: UploadPlan) -> Bool {
        if let holder = holders[id] {
            guard upload.lock == 0 else { return true }
            holder.stop()
        }
        return locks[id].map { $0 > servers.now } ?? false
    }

    fileprivate func begin(_ exchange: UploadExchange, on id: Int) { holders[id] = exchange }

    fileprivate func end(_ exchange: UploadExchange, on id: Int, isCut: Bool, _ upload: UploadPlan) {
        guard holders[id] === exchange else { return }
        holders[id] = nil
        if isCut, upload.lock > 0 { locks[id] = servers.now + Int64(sim_random() % UInt64(upload.lock)) }
    }
}

/// A request whose body a server takes while it arrives.
protocol Exchange: AnyObject {
    /// What the server sends before the body arrives.
    var interim: String { get }
    /// Takes bytes of the request's body. Returns false if the connection is cut.
    func take(_ bytes: ArraySlice<UInt8>) -> Bool
    /// What the server says about the bytes that have arrived.
    func takeReport() -> String
    /// Drops the bytes that follow: the connection has ended, or another one continues the upload.
    func stop()
    /// The answer to the complete request.
    func finish() -> Answer
}

extension Exchange {
    var interim: String { "" }
    func takeReport() -> String { "" }
}

/// A request of an upload by the IETF's draft or by tus, or of a whole object, at its server.
final class UploadExchange: Exchange {
    private let plan: TaskPlan
    private let upload: UploadPlan
    private let request: Request
    private let servers: Servers
    private let uploads: UploadServers
    /// The upload that gets the bytes of the request; nil: they are dropped.
    private var id: Int?
    /// The answer, if it does not depend on the bytes.
    private var answer: Answer?
    /// How many bytes arrive before the connection is cut; nil: all.
    private var bytesUntilCut: Int?
    private var bytesUntilReport = 0
    /// Whether no byte of the body of an upload's first request has arrived. Such a request may be repeated after its
    /// end.
    private var hasNoByte = false
    private(set) var interim = ""

    init(
        _ plan: TaskPlan, _ upload: UploadPlan, _ request: Request, at server: UInt32, _ servers: Servers,
        _ uploads: UploadServers
    ) {
        (self.plan, self.upload, self.request) = (plan, upload, request)
        (self.servers, self.uploads) = (servers, uploads)
        let number = upload.kind == .s3 ? nil : request.path.split(separator: "/").dropFirst().first.flatMap { Int($0) }
        servers.checkChain(request, of: plan)
        if request.method != "DELETE" {
            servers.receive(request, for: plan, as: number == nil ? .request : .uploadRequest)
        }
        if upload.kind != .s3 { servers.checkSecret(of: request, for: plan, at: server) }
        let refusal = servers.refusal(of: request, for: plan, at: server)
        hasNoByte = refusal == nil && number == nil && request.body > 0
        answer = refusal ?? servers.fault(plan)
        guard answer == nil else { return }
        if let number { continues(number) } else { begins() }
        guard id != nil, request.body > 0, servers.mayFail, servers.happens(upload.cutPercent) else { return }
        bytesUntilCut = Int(sim_random() % UInt64(request.body))
    }

    // MARK: The first request of an upload

    private func begins() {
        if plan.resource.isMissing { return answer = .status(404) }
        let isOrdinary = [.unaware, .s3].contains(upload.kind)
        guard let size = isOrdinary ? Int64(request.body) : request.number("upload-length"),
            let id = uploads.make(plan, upload, size: size)
        else { return answer = .status(400) }
        uploads.begin(self, on: id)
        self.id = id
        guard upload.kind == .ietf else { return }
        let limit = upload.longestAppend > 0 ? "Upload-Limit: max-append-size=\(upload.longestAppend)\r\n" : ""
        interim = "HTTP/1.1 104 Upload\r\n\(versionField)\(location(id))\(limit)\r\n"
    }

    private var versionField: String {
        upload.kind == .tus ? "Tus-Resumable: 1.0.0\r\n" : "Upload-Draft-Interop-Version: 8\r\n"
    }

    private func location(_ id: Int) -> String {
        let server = upload.server == plan.resource.server ? "" : Servers.origin(upload.server)
        return "Location: \(server)/\(plan.number)/\(id)\r\n"
    }

    // MARK: A request to the URL of an upload

    private func continues(_ number: Int) {
        guard let id = uploads.find(number, plan, upload) else {
            servers.record(.uploadIsLost, plan.number, Int64(number))
            return answer = .status([404, 410][Int(sim_random() % 2)])
        }
        servers.record(.uploadIsUsed, plan.number, Int64(id))
        uploads[id].isUsed = true
        switch request.method {
        case "DELETE":
            uploads[id].isGone = true
            servers.record(.uploadIsRemoved, plan.number, Int64(id))
            answer = .status(204, fields: versionField)
        case _ where uploads.isLocked(id, upload): answer = .status(upload.kind == .tus ? 423 : 409)
        case "HEAD":
            uploads[id].hasLostBytes = false
            answer = .status(200, fields: versionField + state(id))
        case "PATCH": appends(id)
        default: answer = .status(405)
        }
    }

    private func appends(_ id: Int) {
        // The request without bytes that ends an empty upload may come when the server has ended it.
        let takesBytes = !uploads[id].isComplete || request.body == 0
        guard let offset = request.number("upload-offset"), offset == uploads[id].offset, takesBytes else {
            // The client has to ask, except if the server has lost bytes since the client asked.
            if !uploads[id].hasLostBytes { servers.record(.offsetIsWrong, plan.number, Int64(id)) }
            return answer = .status(409, fields: versionField + state(id))
        }
        uploads.begin(self, on: id)
        self.id = id
    }

    private func state(_ id: Int) -> String {
        let stored = uploads[id]
        let fields = "Upload-Offset: \(stored.offset)\r\nUpload-Length: \(stored.size)\r\nCache-Control: no-store\r\n"
        guard upload.kind == .ietf else { return fields }
        let limit = upload.longestAppend > 0 ? "Upload-Limit: max-append-size=\(upload.longestAppend)\r\n" : ""
        return fields + limit + "Upload-Complete: ?\(stored.isComplete ? 1 : 0)\r\n"
    }

    // MARK: The bytes

    func take(_ bytes: ArraySlice<UInt8>) -> Bool {
        hasNoByte = false
        guard let id else { return true }
        let isCut = bytesUntilCut.map { $0 < bytes.count } ?? false
        let taken = bytes.prefix(bytesUntilCut ?? bytes.count)
        bytesUntilCut = bytesUntilCut.map { $0 - taken.count }
        uploads[id].append(taken.prefix(Int(max(0, uploads[id].size - uploads[id].offset))))
        guard isCut else {
            bytesUntilReport -= taken.count
            return true
        }
        // The server may not have written the last bytes yet.
        if sim_random() % 2 == 0 {
            let lost = Int64(sim_random() % UInt64(min(20_000, uploads[id].offset + 1)))
            uploads[id].shorten(to: uploads[id].offset - lost)
        }
        stop()
        return false
    }

    func takeReport() -> String {
        guard upload.kind == .ietf, upload.reportsProgress, let id, bytesUntilReport < 0 else { return "" }
        bytesUntilReport = 300_000
        uploads[id].hasLostBytes = false
        return "HTTP/1.1 104 Upload\r\n\(versionField)Upload-Offset: \(uploads[id].offset)\r\n\r\n"
    }

    func stop() {
        if hasNoByte { servers.record(.requestIsRefused, plan.number) }
        hasNoByte = false
        guard let id else { return }
        (self.id, answer) = (nil, .reset)
        uploads.end(self, on: id, isCut: true, upload)
    }

    func finish() -> Answer {
        guard let id else { return answer ?? .reset }
        self.id = nil
        uploads.end(self, on: id, isCut: false, upload)
        let isWhole = uploads[id].offset == uploads[id].size
        if isWhole, !uploads[id].isComplete {
            uploads[id].isComplete = true
            let version = uploads[id].version(plan)
            servers.record(.upload, plan.number, version.map(Int64.init) ?? -1, Int64(id))
        }
        uploads[id].hasLostBytes = false
        if servers.losesAnswer(upload) { return .reset }
        let isFirst = request.method != "PATCH"
        switch upload.kind {
        case .unaware, .s3: return .status(201)
        case .tus:
            return isFirst
                ? .status(201, fields: versionField + location(id)) : .status(204, fields: versionField + state(id))
        case .ietf: return .status(isFirst ? 201 : 200, fields: versionField + state(id))
        }
    }
}
