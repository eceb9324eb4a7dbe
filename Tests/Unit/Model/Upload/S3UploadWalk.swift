import BackhaulModel

/// A seeded walk of one multipart upload: attempts with several parts in flight, against a server that drops
/// connections, is busy, fails and forgets, files that change, and engines that end at any moment. What an engine has
/// stored is all that the next attempt knows.
struct S3UploadWalk {
    /// A connection of an attempt.
    private struct Connection {
        /// The machine of an extra part; nil for the connection of the attempt itself.
        var extra: UploadMachine?
        var events: [UploadMachine.Event]
        /// The request that the server gets next.
        var request: UploadStep?
        /// The body of the last response.
        var body: [UInt8] = []
    }

    static let mebibyte: UInt64 = 1 << 20
    private let size: UInt64
    private var random: Random
    private var server: SimulatedS3Server
    /// From this attempt on, nothing goes wrong.
    private let calmAttempt: Int
    private var stored: UploadResource?
    private(set) var attempts = 0
    private(set) var sent: UInt64 = 0
    /// How many parts were cut or stopped, or lost their responses. Each of them may be sent again.
    private(set) var brokenParts: UInt64 = 0
    /// The most parts that were in flight together.
    private(set) var mostInFlight = 0
    let forgets: Bool

    // The present attempt.
    private var machine = UploadMachine(url: "", policy: TransferPolicy(SessionConfiguration(identifier: "s")))
    private var connections: [Connection] = []
    private var conclusion: UploadMachine.Conclusion?
    private var problem: String?

    init(seed: UInt64, forgets: Bool = true) {
        random = Random(seed: seed)
        self.forgets = forgets
        size =
            random.once(in: 6)
            ? UInt64(random.number(0...16)) * Self.mebibyte : UInt64(random.number(17...90)) * 999_999
        server = SimulatedS3Server(size: size)
        calmAttempt = random.number(1...30)
    }

    var sentAgain: UInt64 { sent - min(sent, size) }
    /// Whether the server has made the object, and its answer was lost. Then the server does not know the upload any
    /// more.
    var wasMadeTwice: Bool { server.objects.count > 1 }
    var isInParts: Bool { size > UploadProtocol.s3WholeSize }

    /// Returns what is wrong; nil if the upload succeeds and the server has the whole object.
    mutating func run() -> String? {
        while attempts < calmAttempt + 6 {
            attempts += 1
            let end = attempt()
            if let problem { return problem }
            switch end {
            case .succeeded:
                return server.objects.allSatisfy { $0 == size } && !server.objects.isEmpty ? nil : "it lied"
            case .failed(let failure): return "it failed: \(failure.message)"
            default:
                if forgets, goesWrong(in: 12) { server.forget() }
            }
        }
        return "it has no end after \(attempts) attempts"
    }

    private mutating func goesWrong(in times: Int) -> Bool { attempts < calmAttempt && random.once(in: times) }

    private mutating func attempt() -> UploadMachine.Conclusion {
        let policy = TransferPolicy(SessionConfiguration(identifier: "s"))
        machine = UploadMachine(url: "s3://bucket/key", policy: policy, size: size, resource: stored)
        connections = [Connection(events: [.start])]
        conclusion = nil
        while conclusion == nil, problem == nil {
            // The engine ends.
            if goesWrong(in: 60) {
                for index in connections.indices { stop(index) }
                return .stopped
            }
            if machine.wantsExtraPart, random.once(in: 3), let extra = machine.takeExtraPart() {
                connections.append(Connection(extra: extra, events: [.start]))
            }
            let busy = connections.indices.filter { !connections[$0].events.isEmpty || connections[$0].request != nil }
            guard let index = random.pick(busy) else {
                return .failed(Failure(.internal, "the attempt does nothing in its phase \(machine.phase)"))
            }
            proceed(index)
            // The limits have changed, so the extra parts stop.
            if goesWrong(in: 100) { stopExtraParts() }
        }
        return conclusion ?? .stopped
    }

    private mutating func proceed(_ index: Int) {
        if let step = connections[index].request {
            connections[index].request = nil
            connections[index].events = responses(to: step)
            connections[index].body = server.body
            return
        }
        let event = connections[index].events.removeFirst()
        let body = connections[index].body
        guard var extra = connections[index].extra else {
            if case .transferComplete = event { machine.read(body.span.bytes) }
            return perform(machine.handle(event))
        }
        if case .transferComplete = event { extra.read(body.span.bytes) }
        let actions = extra.handle(event)
        connections[index].extra = extra
        perform(actions, of: index)
    }

    /// Performs the actions of the attempt.
    private mutating func perform(_ actions: [UploadMachine.Action]) {
        for action in actions {
            switch action {
            case .openBody(let step): open(step, 0)
            case .startTransfer(let step): send(step, 0)
            case .stopTransfer: stop(0)
            case .stopExtraParts: stopExtraParts()
            case .record(let resource):
                stored = resource
                connections[0].events.insert(.recorded, at: 0)
            case .abandon: stored = nil
            case .conclude(let end):
                if connections.count > 1 { problem = "it ended while parts were in flight" }
                conclusion = end
            case .releaseSlot, .close: break
            }
        }
    }

    /// Performs the actions of an extra part.
    private mutating func perform(_ actions: [UploadMachine.Action], of index: Int) {
        for action in actions {
            switch action {
            case .openBody(let step): open(step, index)
            case .startTransfer(let step): send(step, index)
            case .stopTransfer: stop(index)
            case .conclude(let end):
                guard let extra = connections.remove(at: index).extra else { return }
                perform(machine.ended(extra, end))
                return
            case .record, .abandon, .stopExtraParts, .releaseSlot, .close: break
            }
        }
    }

    private mutating func open(_ step: UploadStep, _ index: Int) {
        let isChanged = forgets && step.continuesBody && goesWrong(in: 60)
        connections[index].events = [isChanged ? .bodyFailed(Failure(.bodyChanged, "changed")) : .opened]
    }

    private mutating func send(_ step: UploadStep, _ index: Int) {
        connections[index].request = step
        let requests = connections.compactMap(\.request?.part?.number)
        mostInFlight = max(mostInFlight, requests.count)
        if Set(requests).count < requests.count { problem = "a part was sent twice at the same time" }
        if case .complete = step, !requests.isEmpty { problem = "the object was made while parts were in flight" }
        if let resource = step.resource, stored?.url != resource.url { problem = "the upload is not in the store" }
    }

    /// Ends the connection. The server may nevertheless get the request that was under way.
    private mutating func stop(_ index: Int) {
        guard let step = connections[index].request else { return connections[index].events = [] }
        if step.part != nil { brokenParts += 1 }
        sent += bytes(of: step)
        if random.once(in: 2) { _ = server.respond(to: step, url(of: step), cut: nil, losesResponse: true) }
        (connections[index].request, connections[index].events) = (nil, [])
    }

    private mutating func stopExtraParts() {
        while connections.count > 1, let index = connections.indices.last, var extra = connections[index].extra {
            // The server has the part, and its response has not arrived yet.
            if extra.phase == .sending, connections[index].request == nil { brokenParts += 1 }
            let actions = extra.handle(.stop)
            connections[index].extra = extra
            perform(actions, of: index)
        }
    }

    private func bytes(of step: UploadStep) -> UInt64 { step == .whole ? size : step.part?.count ?? 0 }

    private func url(of step: UploadStep) -> String { UploadProtocol.s3.url(of: step, "s3://bucket/key") }

    private mutating func responses(to step: UploadStep) -> [UploadMachine.Event] {
        if goesWrong(in: 20) {
            // Only the request that makes the object is answered before its result is known.
            let statuses: [Int32] = if case .complete = step { [500, 503, 200] } else { [500, 503] }
            return server.error(random.pick(statuses) ?? 503, "InternalError")
        }
        let count = bytes(of: step)
        let cut = goesWrong(in: 8) ? UInt64.random(in: 0...count, using: &random) : nil
        let losesResponse = goesWrong(in: 12)
        if step.part != nil, cut != nil || losesResponse { brokenParts += 1 }
        sent += cut ?? count
        return server.respond(to: step, url(of: step), cut: cut, losesResponse: losesResponse)
    }
}
