@testable import BackhaulModel

/// Downloads of a file of which a server has two representations. The bytes of an input decide what the server
/// responds, where connections break, and when the process or the power fails.
enum Downloads {
    @Sendable static func download(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        var download = SimulatedDownload(&input)
        // When the bytes are used up, nothing fails any more.
        for _ in 0..<bytes.count + 10 where try download.attempt(&input) { return }
        throw Violation(description: "the download never ends")
    }
}

/// A download with its part file and its row in the store. All operations are performed in the order of the actions.
private struct SimulatedDownload {
    /// An operation of the disk or of the store.
    private enum Work {
        case action(DownloadMachine.Action)
        case append([UInt8])
        case seal([UInt8], size: UInt64)
    }

    private var server: DownloadServer
    private var terms = DownloadTerms()
    private var checkpoint: Checkpoint?
    private var intent: FinishIntent?
    /// The part file; nil if there is none. `synced`: how many of its bytes survive a failure of the power.
    private var part: [UInt8]?
    private var synced = 0
    private var final: [UInt8]?
    private var boot = 0
    private var hasEnded = false
    // What the process has in memory.
    private var machine = DownloadMachine(checkpoint: nil, intent: nil, bootID: "")
    private var isOpen = false
    private var buffer: [UInt8] = []
    private var work: [Work] = []
    private var deliveries: [DownloadMachine.Event] = []
    private var bodies: [[UInt8]] = []

    init(_ input: inout FuzzInput) {
        server = DownloadServer(&input)
        if input.byte() % 4 == 1 {
            terms.range = ByteRange(start: UInt64(input.byte()), size: input.flag() ? UInt64(input.byte()) + 1 : nil)
        }
        terms.ignoresDigests = terms.range != nil
        if input.byte() % 4 == 1 { terms.checksum = wanted(server.representations[0]).map(DownloadServer.digest) }
    }

    /// The bytes of a representation that become the file; nil if the representation does not have them.
    private func wanted(_ bytes: [UInt8]) -> [UInt8]? {
        guard let range = terms.range else { return bytes }
        return range.bytes(of: UInt64(bytes.count)).map { Array(bytes[Int($0.lowerBound)..<Int($0.upperBound)]) }
    }

    /// Returns whether the download has ended.
    mutating func attempt(_ input: inout FuzzInput) throws -> Bool {
        machine = DownloadMachine(
            checkpoint: checkpoint, intent: intent, bootID: "boot \(boot)", terms: terms, limits: .small)
        (isOpen, buffer, work, deliveries, bodies) = (false, [], [], [], [])
        try handle(.start, &input)
        while !machine.isOver {
            let choice = input.byte()
            switch choice {
            case 0xFE...: return crash(&input, losesPower: choice == 0xFF)
            case 0xF8...0xFD: try handle(input.choice([.tick, .aged, .stop]), &input)
            case _ where canDeliver && (work.isEmpty || choice % 2 == 1): try deliver(&input)
            default:
                try require(!work.isEmpty, "nothing is under way in the phase \(machine.phase)")
                try perform(work.removeFirst(), &input)
            }
            try checkPosition()
        }
        return hasEnded
    }

    private mutating func crash(_ input: inout FuzzInput, losesPower: Bool) -> Bool {
        guard losesPower else { return hasEnded }
        boot += 1
        guard let bytes = part else { return hasEnded }
        // Some of the other bytes survive, and are garbage.
        let survivors = min(Int(input.byte()), bytes.count - synced)
        part = bytes.prefix(synced) + [UInt8](repeating: 0xEE, count: survivors)
        if synced == 0, input.flag() { part = nil }
        return hasEnded
    }

    // MARK: The server

    private var canDeliver: Bool {
        guard let next = deliveries.first else { return false }
        if case .received = next { return machine.wantsBytes }
        return true
    }

    private mutating func deliver(_ input: inout FuzzInput) throws {
        let event = deliveries.removeFirst()
        guard case .received = event else { return try handle(event, &input) }
        let bytes = bodies.removeFirst()
        let kept = machine.bytesOfFile(among: bytes.count)
        guard !kept.isEmpty else { return }
        if machine.phase == .receiving { buffer += bytes[kept] }
        try handle(.received(count: kept.count), &input)
    }

    // MARK: The machine

    private mutating func handle(_ event: DownloadMachine.Event, _ input: inout FuzzInput) throws {
        for action in machine.handle(event) {
            switch action {
            case .startTransfer(let offset, let ifRange, _):
                try require(offset <= checkpoint?.size ?? .max, "a request for bytes from \(offset) on")
                let requested = machine.requestedBytes(from: offset).map { (Int($0.first), $0.last.map { Int($0) }) }
                (deliveries, bodies) = server.response(to: requested, ifRange: ifRange, &input)
            case .stopTransfer: (deliveries, bodies) = ([], [])
            case .flush: work.append(.append(takeBuffer()))
            case .seal(let size): work.append(.seal(takeBuffer(), size: size))
            case .resumeTransfer, .releaseSlot, .hash: break
            default: work.append(.action(action))
            }
        }
    }

    private mutating func takeBuffer() -> [UInt8] {
        defer { buffer = [] }
        return buffer
    }

    private func checkPosition() throws {
        guard machine.phase == .receiving || machine.phase == .sealing, let size = machine.size else { return }
        try require(machine.offset <= size, "the offset \(machine.offset) of \(size) bytes")
    }

    // MARK: The disk and the store

    private mutating func perform(_ next: Work, _ input: inout FuzzInput) throws {
        switch next {
        case .append(let bytes):
            append(bytes)
            try handle(.appended(length: UInt64(part?.count ?? 0)), &input)
        case .seal(let bytes, let size):
            append(bytes)
            synced = part?.count ?? 0
            try requireEqual(UInt64(synced), size, "the length of the file")
            let digest = terms.checksum == nil && !server.statesDigests ? nil : DownloadServer.digest(part ?? [])
            try handle(.sealed(FinishIntent(device: 1, inode: 1, size: size), digest), &input)
        case .action(let action):
            if let result = try result(of: action) { try handle(result, &input) }
        }
    }

    private mutating func append(_ bytes: [UInt8]) {
        if !isOpen { (part, synced, isOpen) = ([], 0, true) }
        part? += bytes
    }

    private mutating func result(of action: DownloadMachine.Action) throws -> DownloadMachine.Event? {
        switch action {
        case .checkSealedFile(let intent):
            let isThere = [final, part].contains { $0.map { UInt64($0.count) } == intent.size }
            return .sealedFileChecked(isThere: isThere)
        case .openPart(let isSameBoot, let offset): return open(isSameBoot: isSameBoot, Int(offset))
        case .restartPart: isOpen = false
        case .sync:
            synced = part?.count ?? 0
            return .synced(length: UInt64(synced))
        case .forgetCheckpoint:
            (checkpoint, intent) = (nil, nil)
            return .forgotten
        case .recordCheckpoint(let found):
            try check(found)
            checkpoint = found
            return .checkpointRecorded
        case .recordIntent(let found):
            intent = found
            return .intentRecorded
        case .place:
            (final, part) = (part ?? final, nil)
            return .placed
        case .discardPart:
            (part, isOpen) = (nil, false)
            return .discarded
        case .conclude(let conclusion, let found):
            try conclude(conclusion, found)
            return .concluded
        case .checkSpace: return .spaceChecked
        case .closePart: break
        default: throw Violation(description: "\(action), which the terms do not need")
        }
        return nil
    }

    private mutating func open(isSameBoot: Bool, _ offset: Int) -> DownloadMachine.Event {
        guard let bytes = part, !bytes.isEmpty, bytes.count >= offset else { return .opened(length: 0) }
        if !isSameBoot { part = Array(bytes.prefix(offset)) }
        isOpen = true
        synced = min(synced, part?.count ?? 0)
        return .opened(length: UInt64(part?.count ?? 0))
    }

    private func check(_ checkpoint: Checkpoint) throws {
        try require(checkpoint.syncedOffset <= UInt64(synced), "a checkpoint of \(checkpoint.syncedOffset) bytes")
        try require(checkpoint.syncedOffset <= checkpoint.size ?? .max, "a checkpoint beyond the end of the file")
    }

    private mutating func conclude(_ conclusion: DownloadMachine.Conclusion, _ found: Checkpoint?) throws {
        switch conclusion {
        case .succeeded:
            let expected = server.representations.map(wanted)
            try require(final != nil && expected.contains(final), "the file is no representation")
            if terms.checksum != nil { try requireEqual(final, expected[0], "the file with the digest") }
            hasEnded = true
        case .failed: hasEnded = true
        case .retry(let failure, _, _, _):
            terms.hadMismatch = [.sizeMismatch, .checksumMismatch].contains(failure.status)
            checkpoint = found
        case .stopped, .credential: checkpoint = found
        }
        if let found { try check(found) }
    }
}

extension DownloadMachine.BufferLimits {
    /// Limits that a few bytes reach.
    fileprivate static var small: Self {
        var limits = Self()
        (limits.flush, limits.outstanding, limits.aged) = (16, 60, 16)
        (limits.firstCheckpoint, limits.unrecorded) = (16, 40)
        (limits.firstSync, limits.laterSync, limits.syncTicks) = (60, 60, 2)
        (limits.spaceCheck, limits.errorBody) = (100, 2)
        return limits
    }
}

/// A server whose file is replaced by another one, and back. Its responses may lack fields and end early, but they
/// never have the validators of the other representation.
private struct DownloadServer {
    private enum Style: CaseIterable { case strongTag, tagAndDate, date, weakTag, nothing }

    let representations: [[UInt8]]
    let statesDigests: Bool
    private let style: Style
    private var current = 0

    init(_ input: inout FuzzInput) {
        style = input.choice(Style.allCases)
        statesDigests = input.byte() % 4 == 1
        let size = Int(input.byte()) * 2
        let first = (0..<size).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) }
        let laterSize = input.flag() ? Int(input.byte()) * 2 : size
        let second = (0..<laterSize).map { UInt8(truncatingIfNeeded: $0 * 5 + 100) }
        representations = [first, second]
    }

    /// Stands for a digest of SHA-256: two texts of the simulation have the same one only if they are equal.
    static func digest(_ bytes: [UInt8]) -> Checksum {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Checksum(.sha256, (0..<32).map { UInt8(truncatingIfNeeded: hash >> UInt64($0 % 8 * 8)) })
    }

    /// The events of a transfer, and the bytes of the events `received`. Without further bytes of the input, the server
    /// obeys the request.
    mutating func response(
        to requested: (first: Int, last: Int?)?, ifRange: String?, _ input: inout FuzzInput
    ) -> ([DownloadMachine.Event], [[UInt8]]) {
        if input.byte() % 4 == 1 { current = 1 - current }
        switch input.byte() % 32 {
        case 1: return ([lost], [])
        case 2:
            // A 200 without a length would be a file of another representation.
            let status: Int32 = input.choice([503, 500, 404, 416, 429])
            return transfer(status, [], [1, 2, 3], &input)
        default: break
        }
        let bytes = representations[current]
        var fields = validators
        if statesDigests {
            let digest = Base64.text(Self.digest(bytes).digest)
            fields.append(ResponseField("Repr-Digest", "sha-256=:\(digest):"))
        }
        let isSame = ifRange.map { value in fields.contains { $0.value == Array(value.utf8) } } ?? true
        let obeysRange = isSame || input.byte() % 8 == 1
        guard let requested, obeysRange, input.byte() % 8 != 1 else {
            let hasLength = input.byte() % 4 != 1
            if hasLength { fields.append(ResponseField("Content-Length", "\(bytes.count)")) }
            return transfer(200, fields, bytes, endsEarly: hasLength, &input)
        }
        guard requested.first < bytes.count else {
            return transfer(416, fields + [ResponseField("Content-Range", "bytes */\(bytes.count)")], [], &input)
        }
        var (first, last) = (requested.first, min(requested.last ?? .max, bytes.count - 1))
        if input.byte() % 8 == 1 { first = Int(input.byte()) % (last + 1) }
        if input.byte() % 8 == 1 { last = first + Int(input.byte()) % (last - first + 1) }
        let total = input.byte() % 8 == 1 ? "*" : "\(bytes.count)"
        // A response that obeys If-Range may omit Last-Modified.
        if ifRange != nil, isSame, input.byte() % 8 == 1 { fields.removeAll { $0.isNamed("Last-Modified") } }
        fields.append(ResponseField("Content-Range", "bytes \(first)-\(last)/\(total)"))
        if input.flag() { fields.append(ResponseField("Content-Length", "\(last - first + 1)")) }
        return transfer(206, fields, Array(bytes[first...last]), endsEarly: true, &input)
    }

    private var validators: [ResponseField] {
        let name = current == 0 ? "a" : "b"
        let date = ResponseField("Date", "Mon, 05 Oct 2026 08:30:00 GMT")
        let modified = ResponseField("Last-Modified", "Mon, 05 Oct 2026 08:0\(current):00 GMT")
        switch style {
        case .strongTag: return [ResponseField("ETag", "\"\(name)\"")]
        case .tagAndDate: return [ResponseField("ETag", "\"\(name)\""), modified, date]
        case .date: return [modified, date]
        case .weakTag: return [ResponseField("ETag", "W/\"\(name)\""), modified, date]
        case .nothing: return []
        }
    }

    private var lost: DownloadMachine.Event {
        .transferFailed(Failure(.connectionLost, "the connection is lost"), isTransient: true)
    }

    /// `endsEarly`: whether a client can detect that the body is not whole.
    private func transfer(
        _ status: Int32, _ fields: [ResponseField], _ body: [UInt8], endsEarly: Bool = false, _ input: inout FuzzInput
    ) -> ([DownloadMachine.Event], [[UInt8]]) {
        let head = ResponseHead(
            status: status, finalURL: "https://example.org/a", isMultiplexed: false, fields: fields,
            origin: "https://example.org:443")
        var rest = body[...]
        var end = DownloadMachine.Event.transferComplete
        switch input.byte() % 4 {
        case 1:
            rest = rest.prefix(Int(input.byte()) * 2)
            if rest.count < body.count { end = endsEarly && input.flag() ? .transferComplete : lost }
        case 2 where endsEarly && input.flag(): rest += [7, 7, 7]
        default: break
        }
        var bodies: [[UInt8]] = []
        while !rest.isEmpty {
            let next = Array(rest.prefix(Int(input.byte() % 64) + 1 + (input.isEmpty ? 100 : 0)))
            bodies.append(next)
            rest = rest.dropFirst(next.count)
        }
        return ([.head(head)] + bodies.map { .received(count: $0.count) } + [end], bodies)
    }
}
