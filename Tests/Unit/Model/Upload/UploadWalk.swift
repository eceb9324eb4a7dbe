import BackhaulModel

/// A seeded walk of one upload: attempts against a server that drops connections, is locked, fails and forgets, and
/// engines that end at any moment. What an engine has stored is all that the next attempt knows.
struct UploadWalk {
    private enum Ending {
        case succeeded, again
        case failed(Failure)
    }

    private let choice: ResumableUploads
    private let size: UInt64
    private var random: Random
    private var server: SimulatedUploadServer
    /// From this attempt on, nothing goes wrong.
    private let calmAttempt: Int
    private var stored: UploadResource?
    private(set) var attempts = 0
    /// The bytes of the body in all requests.
    private var sent: UInt64 = 0
    /// The bytes that were sent more than once.
    var sentAgain: UInt64 { sent - min(sent, size) }

    init(seed: UInt64, _ choice: ResumableUploads) {
        random = Random(seed: seed)
        self.choice = choice
        size = random.once(in: 8) ? 0 : UInt64(random.number(1...200_000))
        let limit = random.once(in: 3) ? UInt64(random.number(65_536...90_000)) : nil
        server = SimulatedUploadServer(choice, size: size, longestAppend: limit)
        calmAttempt = random.number(1...40)
    }

    /// Returns what is wrong; nil if the upload succeeds and the server has the whole body.
    mutating func run() -> String? {
        while attempts < calmAttempt + 5 {
            attempts += 1
            switch attempt() {
            case .succeeded: return server.wholeBodies > 0 ? nil : "it succeeded, but the server has no whole body"
            case .failed(let failure): return "it failed: \(failure.message)"
            case .again: if goesWrong(in: 10) { server.forget() }
            }
        }
        return "it has no end after \(attempts) attempts"
    }

    private mutating func goesWrong(in times: Int) -> Bool { attempts < calmAttempt && random.once(in: times) }

    private mutating func attempt() -> Ending {
        var configuration = SessionConfiguration(identifier: "s")
        configuration.policy.resumableUploads = choice
        var machine = UploadMachine(
            url: "http://a/f", policy: TransferPolicy(configuration), size: size, resource: stored)
        var events: [UploadMachine.Event] = [.start]
        while !events.isEmpty {
            // The engine ends.
            if goesWrong(in: 30) { return .again }
            for action in machine.handle(events.removeFirst()) {
                switch action {
                case .openBody: events.append(.opened)
                case .startTransfer(let step): events = responses(to: step, machine.uploadProtocol)
                case .stopTransfer: events = []
                case .record(let resource):
                    stored = resource
                    events.insert(.recorded, at: 0)
                case .abandon: stored = nil
                case .conclude(.succeeded): return .succeeded
                case .conclude(.failed(let failure)): return .failed(failure)
                case .conclude: return .again
                case .releaseSlot, .close, .stopExtraParts: break
                }
            }
        }
        return .failed(Failure(.internal, "the attempt does nothing in its phase \(machine.phase)"))
    }

    private mutating func responses(to step: UploadStep, _ uploadProtocol: UploadProtocol) -> [UploadMachine.Event] {
        if goesWrong(in: 10) { return [SimulatedUploadServer.lost] }
        if goesWrong(in: 10) { return server.answer(random.pick([409, 423, 500, 503]) ?? 503) }
        var count: UInt64 = 0
        if case .append(_, let some) = step { count = some } else if step == .whole { count = size }
        let cut = goesWrong(in: 2) ? UInt64.random(in: 0...count, using: &random) : nil
        sent += cut ?? count
        return server.respond(to: step, uploadProtocol.fields(of: step, size: size), cut: cut)
    }
}
