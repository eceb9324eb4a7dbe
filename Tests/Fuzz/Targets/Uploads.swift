@testable import BackhaulModel

/// The responses to the requests of an upload that can be continued.
enum Uploads {
    private static let statuses: [Int32] = [200, 201, 204, 308, 400, 401, 404, 409, 410, 413, 423, 429, 460, 500, 503]
    private static let names = [
        "Upload-Offset", "Upload-Length", "Upload-Limit", "Upload-Complete", "Upload-Incomplete",
    ]

    /// The bytes are the size of the body, the resource of an earlier attempt, and the responses to the requests of one
    /// attempt; or, if the first byte is at least 128, what happens to a server that obeys its protocol.
    @Sendable static func responses(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        let choice = input.choice([ResumableUploads.ietf, .apple, .tus])
        let shift = UInt64(1 + input.byte() % 63)
        let size = input.number() >> shift
        if let first = bytes.first, first >= 128 {
            // The server may take only 64 KiB at a time, so a larger body would need very many requests.
            return try upload(&input, choice, size: size % 10_000_000)
        }
        let known = resource(&input, UploadProtocol(choice, size: size), size: size)
        var machine = Self.machine(choice, size: size, known)
        var events: [UploadMachine.Event] = [.start]
        while !events.isEmpty {
            for action in machine.handle(events.removeFirst()) {
                switch action {
                case .openBody(let step):
                    try check(step, of: size)
                    events.append(.opened)
                case .startTransfer(let step):
                    try check(step, of: size)
                    _ = machine.uploadProtocol.fields(of: step, size: size)
                    guard !input.isEmpty else { return }
                    events = response(&input, machine.uploadProtocol)
                case .stopTransfer: events = []
                case .record: events.insert(.recorded, at: 0)
                case .conclude: return
                case .abandon, .releaseSlot, .close, .stopExtraParts: break
                }
            }
            try require(machine.greatestOffset <= size, "the offset \(machine.greatestOffset) of \(size) bytes")
        }
        throw Violation(description: "the attempt does nothing in its phase \(machine.phase)")
    }

    private static func machine(_ choice: ResumableUploads, size: UInt64, _ known: UploadResource?) -> UploadMachine {
        var configuration = SessionConfiguration(identifier: "fuzz")
        configuration.policy.resumableUploads = choice
        return UploadMachine(
            url: "https://example.org/a", policy: TransferPolicy(configuration), size: size, resource: known)
    }

    /// Uploads a body in as many attempts as are needed. When the bytes are used up, the server has no failures any
    /// more.
    private static func upload(_ input: inout FuzzInput, _ choice: ResumableUploads, size: UInt64) throws {
        var server = UploadServer(UploadProtocol(choice, size: size), size: size)
        var known: UploadResource?
        var attemptsLeft = 5
        while attemptsLeft > 0 {
            if input.isEmpty { attemptsLeft -= 1 }
            switch try attempt(&known, at: &server, &input, choice, size: size) {
            case .succeeded:
                return try require(server.isComplete, "the upload succeeded, but the server does not have all bytes")
            case .retry, .startOver: break
            case let conclusion: throw Violation(description: "the upload ends with \(conclusion)")
            }
        }
        throw Violation(description: "the upload never ends")
    }

    private static func attempt(
        _ known: inout UploadResource?, at server: inout UploadServer, _ input: inout FuzzInput,
        _ choice: ResumableUploads, size: UInt64
    ) throws -> UploadMachine.Conclusion {
        var machine = Self.machine(choice, size: size, known)
        var events: [UploadMachine.Event] = [.start]
        while !events.isEmpty {
            for action in machine.handle(events.removeFirst()) {
                switch action {
                case .openBody(let step):
                    try check(step, of: size)
                    events.append(.opened)
                case .startTransfer(let step): events = server.events(after: step, &input)
                case .stopTransfer: events = []
                case .record(let resource):
                    known = resource
                    events.insert(.recorded, at: 0)
                case .abandon: known = nil
                case .conclude(let conclusion): return conclusion
                case .releaseSlot, .close, .stopExtraParts: break
                }
            }
        }
        throw Violation(description: "the attempt does nothing in its phase \(machine.phase)")
    }

    /// The server gets only bytes that the body has, and no more of them than it takes at a time. But a limit that is
    /// too low for the rest of the body is not respected.
    private static func check(_ step: UploadStep, of size: UInt64) throws {
        guard case .append(let resource, let count) = step else { return }
        let isInside = resource.offset <= size && count <= size - resource.offset
        try require(isInside, "\(count) bytes from \(resource.offset) on, of \(size) bytes")
        let longest = max(resource.longestAppend ?? .max, UploadResource.leastAppend)
        try require(count <= longest, "\(count) bytes, but the server takes \(longest)")
        let least = min(size - resource.offset, UploadResource.leastAppend)
        try require(count >= least, "only \(count) bytes of \(size - resource.offset)")
    }

    private static func resource(
        _ input: inout FuzzInput, _ uploadProtocol: UploadProtocol, size: UInt64
    ) -> UploadResource? {
        guard input.byte() % 2 == 1 else { return nil }
        let longest = input.flag() ? input.number() : nil
        return UploadResource(
            uploadProtocol, url: "https://example.org/u", offset: min(input.number(), size), longestAppend: longest)
    }

    private static func response(
        _ input: inout FuzzInput, _ uploadProtocol: UploadProtocol
    ) -> [UploadMachine.Event] {
        let flags = input.byte()
        let wasBodySent = flags & 1 == 0
        let location = flags & 2 == 0 ? "https://example.org/u" : nil
        var events: [UploadMachine.Event] = []
        if flags & 4 != 0 {
            var interim = head(&input, status: 104)
            let version = uploadProtocol.interopVersion.map { String($0) } ?? ""
            interim.fields.append(ResponseField("Upload-Draft-Interop-Version", version))
            events.append(.interim(interim, location: location))
        }
        let status = input.choice(statuses)
        let last = head(&input, status: status)
        events.append(.head(last, nil, location: location, wasBodySent: wasBodySent))
        return events + [.transferComplete(wasBodySent: wasBodySent)]
    }

    /// The bits of the next byte choose the fields.
    private static func head(_ input: inout FuzzInput, status: Int32) -> ResponseHead {
        let chosen = input.byte()
        var fields: [ResponseField] = []
        for (index, name) in names.enumerated() where (chosen >> index) & 1 == 1 {
            fields.append(ResponseField(name, input.bytes()))
        }
        return ResponseHead(
            status: status, finalURL: "https://example.org/a", isMultiplexed: false, fields: fields,
            origin: "https://example.org:443")
    }
}
