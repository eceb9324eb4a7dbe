@testable import BackhaulModel

/// The responses to the requests of an upload that can be continued.
enum Uploads {
    private static let statuses: [Int32] = [200, 201, 204, 308, 400, 401, 404, 409, 410, 413, 423, 429, 460, 500, 503]
    private static let names = [
        "Upload-Offset", "Upload-Length", "Upload-Limit", "Upload-Complete", "Upload-Incomplete",
    ]

    /// The bytes are the size of the body, the resource of an earlier attempt, and the responses to the requests of one
    /// attempt.
    @Sendable static func responses(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        let choice = input.choice([ResumableUploads.ietf, .apple, .tus])
        let shift = UInt64(1 + input.byte() % 63)
        let size = input.number() >> shift
        var configuration = SessionConfiguration(identifier: "fuzz")
        configuration.policy.resumableUploads = choice
        let known = resource(&input, UploadProtocol(choice, size: size), size: size)
        var machine = UploadMachine(
            url: "https://example.org/a", policy: TransferPolicy(configuration), size: size, resource: known)
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

    /// The server gets only bytes that the body has, and no more of them than it takes at a time.
    private static func check(_ step: UploadStep, of size: UInt64) throws {
        guard case .append(let resource, let count) = step else { return }
        let isInside = resource.offset <= size && count <= size - resource.offset
        try require(isInside, "\(count) bytes from \(resource.offset) on, of \(size) bytes")
        let longest = resource.longestAppend ?? .max
        try require(count <= longest, "\(count) bytes, but the server takes \(longest)")
        try require(longest >= UploadResource.leastAppend, "a limit of \(longest) bytes")
    }

    private static func resource(
        _ input: inout FuzzInput, _ uploadProtocol: UploadProtocol, size: UInt64
    ) -> UploadResource? {
        guard input.byte() % 2 == 1 else { return nil }
        let longest = input.byte() % 2 == 1 ? input.number() : nil
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
