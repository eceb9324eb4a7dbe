import BackhaulModel

/// A seeded walk of one multipart upload: attempts against a server that drops connections, is busy, fails and forgets,
/// and engines that end at any moment. What an engine has stored is all that the next attempt knows.
struct S3UploadWalk {
    static let mebibyte: UInt64 = 1 << 20
    private let size: UInt64
    private var random: Random
    private var server: SimulatedS3Server
    /// From this attempt on, nothing goes wrong.
    private let calmAttempt: Int
    private var stored: UploadResource?
    private(set) var attempts = 0
    private(set) var sent: UInt64 = 0
    /// How many parts were cut, or lost their responses. Each of them may be sent again.
    private(set) var brokenParts: UInt64 = 0
    let forgets: Bool

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
            switch attempt() {
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
        var machine = UploadMachine(url: "s3://bucket/key", policy: policy, size: size, resource: stored)
        var events: [UploadMachine.Event] = [.start]
        while !events.isEmpty {
            let event = events.removeFirst()
            if case .transferComplete = event { machine.read(server.body.span.bytes) }
            for action in machine.handle(event) {
                switch action {
                case .openBody: events.append(.opened)
                case .startTransfer(let step): events = responses(to: step, machine.uploadProtocol)
                case .stopTransfer: events = []
                case .record(let resource):
                    stored = resource
                    events.insert(.recorded, at: 0)
                case .conclude(let conclusion): return conclusion
                case .releaseSlot, .close, .abandon: break
                }
            }
            // The engine ends.
            if goesWrong(in: 40) { return .stopped }
        }
        return .failed(Failure(.internal, "the attempt does nothing in its phase \(machine.phase)"))
    }

    private mutating func responses(to step: UploadStep, _ uploadProtocol: UploadProtocol) -> [UploadMachine.Event] {
        if goesWrong(in: 20) { return server.error(random.pick([500, 503, 200]) ?? 503, "InternalError") }
        var count: UInt64 = 0
        if case .append(_, let some) = step { count = some } else if step == .whole { count = size }
        let cut = goesWrong(in: 4) ? UInt64.random(in: 0...count, using: &random) : nil
        let losesResponse = goesWrong(in: 12)
        if case .append = step, cut != nil || losesResponse { brokenParts += 1 }
        sent += cut ?? count
        return server.respond(
            to: step, uploadProtocol.url(of: step, "s3://bucket/key"), cut: cut, losesResponse: losesResponse)
    }
}
