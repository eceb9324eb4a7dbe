import CSimulation
import Glibc

/// The simulated servers. A server at 10.0.0.N has the resource of task T at /T. The engine of the program connects to
/// them with the functions of sockets that `CSimulation` replaces.
final class Servers {
    let history: History
    let journal: Journal
    /// The time of the run at which this process has started.
    private let start: Int64
    private(set) var isOut = false
    /// How many requests of each program the servers answer at this time.
    private var running: [Int: Int] = [:]
    /// The times of the requests for each task, also of earlier processes.
    private var requests: [Int: [Int64]] = [:]
    private(set) lazy var uploads = UploadServers(self, journal)

    init(_ history: History, _ journal: Journal, start: Int64) {
        (self.history, self.journal, self.start) = (history, journal, start)
        for one in journal.all where [.request, .uploadRequest].contains(one.kind) {
            requests[one.task, default: []].append(one.time)
        }
        var servers = sim_servers(
            connects: { connection, address, _, delay in world.servers.connect(connection!, to: address & 0xff, delay!)
            },
            received: { connection, bytes, count in
                guard let peer = Peer.of(connection) else { return }
                peer.receive(UnsafeBufferPointer(start: bytes, count: count))
            },
            closed: { connection in Peer.of(connection)?.close() },
            latency: { _ in world.servers.latency })
        sim_set_servers(&servers)
    }

    static func origin(_ server: UInt32) -> String { originPrefix + String(server) }

    /// The number of the server in an origin, which may also have a port.
    static func server(_ origin: String) -> UInt32 { UInt32(origin.dropFirst(originPrefix.count).prefix(1)) ?? 0 }

    private static let originPrefix = "http://10.0.0."

    var now: Int64 { start + sim_now() }
    /// The calendar of the servers, which is always right.
    var calendar: Int64 { History.calendar + now }
    var mayFail: Bool { now < History.lastFault }

    /// The time until bytes arrive that are sent now.
    private var latency: Int64 {
        let latency = Int64(sim_random() % 40_000) + 200
        return history.beat == 0 ? latency : latency + history.beat - 1 - (now + latency - 1) % history.beat
    }

    func setOutage(_ isOut: Bool) { self.isOut = isOut }

    private func connect(
        _ connection: OpaquePointer, to server: UInt32, _ delay: UnsafeMutablePointer<Int64>
    ) -> Int32 {
        delay.pointee = Int64(sim_random() % 100_000)
        if isOut { return sim_random() % 3 == 0 ? EHOSTUNREACH : -1 }
        if mayFail, sim_random() % 100 < 2 { return ECONNREFUSED }
        let peer = Peer(connection, server, self)
        sim_connection_set_context(connection, Unmanaged.passRetained(peer).toOpaque())
        return 0
    }

    /// Chooses the answer of a server to a request.
    func answer(_ request: Request, at server: UInt32) -> Answer {
        if server == MetadataServer.address { return MetadataServer.answer(request, self) }
        guard let plan = plan(request) else { return .status(404) }
        checkChain(request, of: plan)
        receive(request, for: plan, as: .request)
        checkSecret(of: request, for: plan, at: server)
        if isOut { return .silence }
        if mayFail, plan.resource.breaksFirst, requests[plan.number]?.count == 1, !plan.isUpload {
            return .broken(plan, after: Int64(sim_random() % UInt64(plan.size + 1)), resets: sim_random() % 2 == 0)
        }
        if let refusal = refusal(of: request, for: plan, at: server) { return refusal }
        if let fault = fault(plan) { return fault }
        if plan.resource.isMissing { return .status(404) }
        return plan.isUpload ? .stored(plan) : .content(plan, version(of: plan), request)
    }

    /// Notes a request for a task.
    func receive(_ request: Request, for plan: TaskPlan, as kind: Observation.Kind) {
        record(kind, plan.number, request.rangeStart ?? -1, Int64(request.body))
        requests[plan.number, default: []].append(now)
    }

    func checkSecret(of request: Request, for plan: TaskPlan, at server: UInt32) {
        if mayHaveSecret(request, plan, at: server) { return }
        let hasSecret = request.fields["authorization"] != nil
        record(hasSecret ? .secretIsRevealed : .secretIsMissing, plan.number)
    }

    /// Chooses a fault as the answer to a request; nil: none.
    func fault(_ plan: TaskPlan) -> Answer? {
        if isOut { return .silence }
        guard mayFail, happens(plan.resource.faultPercent) else { return nil }
        let answer = Answer.random(plan)
        if case .status(429, _) = answer { record(.requestIsRefused, plan.number) }
        return answer
    }

    /// Whether the server acts on a request, and its answer does not arrive.
    func losesAnswer(_ upload: UploadPlan) -> Bool { mayFail && happens(upload.cutPercent / 2) }

    func happens(_ percent: Int64) -> Bool { percent > 0 && Int64(sim_random() % 100) < percent }

    /// The content of the resource at this time.
    func version(of plan: TaskPlan) -> Version {
        let requests = (requests[plan.number] ?? []).flatMap { [$0, $0] }
        let changes = plan.resource.changes + zip(requests, plan.resource.changesAfterRequests).map(+)
        let past = changes.filter { $0 <= now }
        return Version(number: UInt64(past.count), time: History.calendar + (past.max() ?? -24 * hour))
    }

    func record(_ kind: Observation.Kind, _ task: Int, _ first: Int64 = 0, _ second: Int64 = 0) {
        journal.add(Observation(time: now, kind: kind, task: task, first: first, second: second))
    }

    /// The program whose task sends a request; nil if the request does not count as a running task: the removal of an
    /// upload, and one of several parts.
    func runningProgram(_ request: Request) -> Int? {
        guard let plan = plan(request), request.method != "DELETE", plan.upload?.kind != .s3 else { return nil }
        return plan.program
    }

    func answerBegins(_ program: Int) {
        let count = running[program, default: 0] + 1
        running[program] = count
        if history.runningLimit > 0, count > history.runningLimit { record(.limitIsPassed, -1, Int64(count)) }
    }

    func answerEnds(_ program: Int) { running[program, default: 0] -= 1 }

    /// The task that the path of a request names.
    func plan(_ request: Request) -> TaskPlan? {
        let segments = request.path.split(separator: "/")
        let name = segments.first == "bucket" ? segments.dropFirst().first : segments.first
        return name.flatMap { Int($0) }.flatMap(history.plan)
    }
}

/// A request, as far as the servers need it.
struct Request {
    var method: Substring
    /// Without the query.
    var path: Substring
    var query: [Substring: Substring] = [:]
    var fields: [String: Substring] = [:]
    /// The size of the body.
    var body = 0

    /// Reads the head of a request. Returns nil if it is not complete.
    init?(_ head: Substring) {
        let lines = head.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        (method, path) = (words[0], words[1].prefix { $0 != "?" })
        for item in words[1].dropFirst(path.count + 1).split(separator: "&") {
            query[item.prefix { $0 != "=" }] = item.drop { $0 != "=" }.dropFirst()
        }
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].drop { $0 == " " }
        }
        body = fields["content-length"].flatMap { Int($0) } ?? 0
    }

    func number(_ field: String) -> Int64? { fields[field].flatMap { Int64($0) } }

    /// The first byte of a range "bytes=N-".
    var rangeStart: Int64? {
        guard let range = fields["range"], range.hasPrefix("bytes=") else { return nil }
        return Int64(range.dropFirst(6).prefix { $0 != "-" })
    }
}

/// The content of a resource, and when it began to be this.
struct Version {
    var number: UInt64
    var time: Int64
}

/// What a server does with a request.
enum Answer {
    case status(Int, fields: String = "")
    case document(String, status: Int = 200)
    /// The server demands that the request is not repeated before.
    case pause(task: Int, seconds: Int64)
    case stored(TaskPlan)
    case content(TaskPlan, Version, Request)
    /// The content ends after this number of bytes: with a reset, or as if it were complete.
    case broken(TaskPlan, after: Int64, resets: Bool)
    /// The server never answers.
    case silence
    case reset
    case close

    /// The longest pause that a server demands, in seconds.
    static let longestPause: UInt64 = 3_600

    static func random(_ plan: TaskPlan) -> Answer {
        switch sim_random() % 13 {
        case 0:
            .pause(
                task: plan.number, seconds: Int64(sim_random() % (sim_random() % 2 == 0 ? 120 : longestPause)))
        case 1: .status(500)
        case 2: .status(502)
        case 3: .status(429)
        case 4: .silence
        case 5: .reset
        case 12: .close
        case 6...8 where !plan.isUpload: .broken(plan, after: Int64(sim_random() % UInt64(plan.size + 1)), resets: true)
        case 9...10 where !plan.isUpload:
            .broken(plan, after: Int64(sim_random() % UInt64(plan.size + 1)), resets: false)
        case 11 where !plan.isUpload:
            .status(302, fields: "Location: \(Servers.origin(plan.resource.server % 4 + 1))/\(plan.number)\r\n")
        default: .status(504)
        }
    }
}

/// The server's end of a connection.
final class Peer {
    private var connection: OpaquePointer?
    private let servers: Servers
    private var received: [UInt8] = []
    /// The bytes of a body that have not arrived yet.
    private var bodyLeft = 0
    /// How many of the first bytes of a body from memory are those of the task.
    private var matching = 0
    private var request: Request?
    /// The request, if it belongs to an upload that can be continued.
    private var exchange: (any Exchange)?
    private let server: UInt32
    /// The program whose request is being answered.
    private var answering: Int? {
        didSet {
            if let oldValue { servers.answerEnds(oldValue) }
            if let answering { servers.answerBegins(answering) }
        }
    }
    /// What is sent next.
    private var sending: Sending?
    /// Whether the connection was cut, so the server reads nothing more.
    private var isDeaf = false

    private struct Sending {
        var task: Int
        var version: UInt64
        var position: Int64
        var end: Int64
        var isChunked: Bool
        var pace: UInt64
        /// What happens after the last byte: nil, or the end of the connection, with a reset or not.
        var ends: (resets: Bool, Void)?
    }

    init(_ connection: OpaquePointer, _ server: UInt32, _ servers: Servers) {
        (self.connection, self.server, self.servers) = (connection, server, servers)
    }

    static func of(_ connection: OpaquePointer?) -> Peer? {
        sim_connection_context(connection).map { Unmanaged<Peer>.fromOpaque($0).takeUnretainedValue() }
    }

    func close() {
        guard let connection else { return }
        answering = nil
        exchange?.stop()
        (sending, exchange, self.connection) = (nil, nil, nil)
        sim_connection_set_context(connection, nil)
        Unmanaged.passUnretained(self).release()
    }

    func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
        if isDeaf { return }
        received += bytes
        while connection != nil, sending == nil, takeRequest() {}
    }

    /// Takes a complete request from the received bytes, and answers it.
    private func takeRequest() -> Bool {
        if request == nil {
            guard let end = endOfHead() else { return false }
            request = Request(Substring(String(decoding: received[..<end], as: UTF8.self)))
            received.removeFirst(end)
            bodyLeft = request?.body ?? 0
            matching = 0
            exchange = request.flatMap { servers.uploads.begin($0, at: server) }
            send(exchange?.interim ?? "")
            if request?.fields["expect"] != nil { send("HTTP/1.1 100 Continue\r\n\r\n") }
        }
        let taken = min(bodyLeft, received.count)
        compare(received.prefix(taken))
        guard takeForUpload(received.prefix(taken)) else { return false }
        received.removeFirst(taken)
        bodyLeft -= taken
        guard bodyLeft == 0, let request else { return false }
        self.request = nil
        answering = servers.runningProgram(request)
        let answer = exchange?.finish() ?? servers.answer(request, at: server)
        exchange = nil
        perform(answer)
        return true
    }

    /// Compares bytes of a body from memory with those of the task.
    private func compare(_ bytes: ArraySlice<UInt8>) {
        guard exchange == nil, let request, let plan = servers.plan(request) else { return }
        let start = request.body - bodyLeft
        if matching == start { matching += Content.matching(bytes, plan.number, version: 0, from: Int64(start)) }
    }

    /// Returns false if the connection is cut.
    private func takeForUpload(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let exchange, !bytes.isEmpty else { return true }
        guard exchange.take(bytes) else {
            self.exchange = nil
            isDeaf = true
            perform(.reset)
            return false
        }
        send(exchange.takeReport())
        return true
    }

    private func endOfHead() -> Int? {
        guard received.count >= 4 else { return nil }
        return (4...received.count).first { received[($0 - 4)..<$0].elementsEqual([13, 10, 13, 10]) }
    }

    private func perform(_ answer: Answer) {
        switch answer {
        case .status(let code, let fields):
            answering = nil
            send("HTTP/1.1 \(code) Status\r\n\(fields)Content-Length: 0\r\n\r\n")
        case .document(let text, let code):
            answering = nil
            send("HTTP/1.1 \(code) Status\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
        case .pause(let task, let seconds):
            servers.record(.pauseIsDemanded, task, servers.now + seconds * second)
            perform(.status(503, fields: "Retry-After: \(seconds)\r\n"))
        case .stored(let plan):
            servers.record(.upload, plan.number, matching == Int(plan.size) % PreparedRequest.memoryLimit ? 0 : -1)
            answering = nil
            send("HTTP/1.1 201 Created\r\n\(servers.followers(of: plan))Content-Length: 0\r\n\r\n")
        case .content(let plan, let version, let request): sendContent(plan, version, request)
        case .broken(let plan, let after, let resets):
            let version = servers.version(of: plan)
            let size = Content.size(plan, version: version.number)
            send("HTTP/1.1 200 OK\r\n\(validator(plan, version))Content-Length: \(size)\r\n\r\n")
            begin(
                Sending(
                    task: plan.number, version: version.number, position: 0, end: min(after, size), isChunked: false,
                    pace: UInt64(plan.resource.pace),
                    ends: (resets, ())))
        case .silence: break
        case .reset: sim_end(connection, 1)
        case .close: sim_end(connection, 0)
        }
    }

    private func validator(_ plan: TaskPlan, _ version: Version) -> String {
        let date = "Date: \(Self.date(servers.calendar))\r\n"
        return switch plan.resource.validator {
        case .strong: date + "ETag: \"v\(version.number)\"\r\n"
        case .weak: date + "ETag: W/\"v\(version.number)\"\r\n"
        case .date: date + "Last-Modified: \(Self.date(version.time))\r\n"
        case .none: date
        }
    }

    /// A time in the form of RFC 9110, section 5.6.7.
    private static func date(_ time: Int64) -> String {
        var (seconds, fields) = (time_t(time / second), tm())
        gmtime_r(&seconds, &fields)
        return String(unsafeUninitializedCapacity: 40) {
            $0.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, 40, "%a, %d %b %Y %H:%M:%S GMT", &fields) }
        }
    }

    private func sendContent(_ plan: TaskPlan, _ version: Version, _ request: Request) {
        let size = Content.size(plan, version: version.number)
        let validator = validator(plan, version)
        if let start = request.rangeStart, plan.resource.hasRanges, mayContinue(request, validator) {
            guard start < size else {
                answering = nil
                return send("HTTP/1.1 416 Range\r\nContent-Range: bytes */\(size)\r\nContent-Length: 0\r\n\r\n")
            }
            send(
                "HTTP/1.1 206 Partial\r\n\(validator)Content-Range: bytes \(start)-\(size - 1)/\(size)\r\n"
                    + "Content-Length: \(size - start)\r\n\r\n")
            return begin(
                Sending(
                    task: plan.number, version: version.number, position: start, end: size, isChunked: false,
                    pace: UInt64(plan.resource.pace), ends: nil))
        }
        let isChunked = plan.resource.isChunked
        let ranges = plan.resource.hasRanges ? "Accept-Ranges: bytes\r\n" : ""
        let length = isChunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: \(size)\r\n"
        send("HTTP/1.1 200 OK\r\n\(validator)\(ranges)\(length)\r\n")
        begin(
            Sending(
                task: plan.number, version: version.number, position: 0, end: size, isChunked: isChunked,
                pace: UInt64(plan.resource.pace), ends: nil))
    }

    /// RFC 9110, section 13.1.5: the range is sent only if the validator in If-Range is the present one.
    private func mayContinue(_ request: Request, _ validator: String) -> Bool {
        guard let condition = request.fields["if-range"] else { return true }
        return validator.contains(": \(condition)\r\n") && !condition.hasPrefix("W/")
    }

    private func begin(_ sending: Sending) {
        self.sending = sending
        continueSending()
    }

    /// Sends the next part. The server needs some time for each part.
    private func continueSending() {
        guard let connection, var sending else { return }
        let count = Int(min(16_384, sending.end - sending.position))
        if count > 0 {
            let bytes = Content.bytes(sending.task, version: sending.version, from: sending.position, count: count)
            if sending.isChunked { send(String(count, radix: 16) + "\r\n") }
            bytes.withUnsafeBytes { sim_send(connection, $0.baseAddress, count) }
            if sending.isChunked { send("\r\n") }
            sending.position += Int64(count)
            self.sending = sending
        }
        guard sending.position >= sending.end else {
            // Unsafe: the reference is released in the call-back.
            sim_after(
                Int64(sim_random() % sending.pace),
                { Unmanaged<Peer>.fromOpaque($0!).takeRetainedValue().continueSending() },
                Unmanaged.passRetained(self).toOpaque())
            return
        }
        if sending.isChunked { send("0\r\n\r\n") }
        self.sending = nil
        answering = nil
        if let ends = sending.ends { sim_end(connection, ends.resets ? 1 : 0) }
        while self.connection != nil, self.sending == nil, takeRequest() {}
    }

    private func send(_ text: String) {
        guard let connection, !text.isEmpty else { return }
        var text = text
        text.withUTF8 { sim_send(connection, $0.baseAddress, $0.count) }
    }
}
