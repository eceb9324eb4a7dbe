import BackhaulModel

/// A simulated server. The server's file changes, and each request is redirected to one of two nodes. A
/// *representation* is the bytes of the file on one node at one time. The *validators* are the ETag and Last-Modified.
/// The server has faults. For example, it closes connections, ignores ranges or If-Range, and sends other ranges, fewer
/// bytes or more bytes than requested. A client can detect each fault, because the headers state the range and the
/// length that the body should have. If the server ignores If-Range, its response has the validators of the present
/// representation.
struct SimulatedServer {
    /// The kind of validators in the server's responses.
    enum Style: CaseIterable {
        case strongTag, weakTag, date, dateOfThisSecond, nothing
    }

    struct Representation: Equatable {
        var version: Int
        var node: Int
        var bytes: [UInt8]
    }

    enum Delivery: Equatable {
        case head(ResponseHead)
        case body([UInt8])
        case complete
        case failed(isTransient: Bool)
    }

    let style: Style
    let sendsLength: Bool
    private(set) var representations: [Representation] = []
    private var version = 0
    private static let challenge = "WWW-Authenticate: Basic realm=\"staff\""

    init(random: inout Random) {
        style = random.pick(Style.allCases) ?? .strongTag
        sendsLength = !random.once(in: 4)
        change(&random)
    }

    /// Adds a new representation to each node. In half of the cases, the representation has the old length. The two
    /// nodes have different bytes with the same validators.
    mutating func change(_ random: inout Random) {
        version += 1
        let old = representations.last?.bytes.count
        let size = random.once(in: 2) ? old ?? 300 : random.once(in: 12) ? 0 : random.number(1...600)
        for node in 0...1 {
            let seed = UInt64(version * 2 + node) &* 0x9E37_79B9
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: (seed &* UInt64($0 + 1)) >> 16) }
            representations.append(Representation(version: version, node: node, bytes: bytes))
        }
    }

    /// Returns the response to one request, as a list of deliveries. If `isGood` is true, the response has no faults.
    /// `requested`: the first and the last byte of the requested range; nil: the request has no range.
    func response(
        _ requested: (first: Int, last: Int?)?, ifRange: String?, isGood: Bool, _ random: inout Random
    ) -> [Delivery] {
        if !isGood {
            if random.once(in: 8) { return [.failed(isTransient: true)] }
            if random.once(in: 400) { return [.failed(isTransient: false)] }
            if random.once(in: 16) { return [.head(head(503)), .body([1, 2, 3]), .complete] }
            if random.once(in: 16) { return [.head(head(401, [Self.challenge])), .body([1, 2, 3]), .complete] }
            if random.once(in: 200) { return [.head(head(404)), .body([1, 2, 3]), .complete] }
            if random.once(in: 300) { return [.complete] }
        }
        let node = isGood ? 0 : random.number(0...1)
        guard let file = representations.last(where: { $0.node == node }) else { return [.failed(isTransient: true)] }
        guard let requested, isGood || !random.once(in: 8) else { return whole(file, isGood, &random) }
        let isSame = ifRange.map { value in validatorLines(version).contains { $0.hasSuffix(": \(value)") } } ?? true
        let ignoresIfRange = !isGood && random.once(in: 4)
        guard isSame || ignoresIfRange else { return whole(file, isGood, &random) }
        return rest(file, requested, omitsFields: isSame && ifRange != nil && !isGood, isGood, &random)
    }

    // MARK: Responses

    private func whole(_ file: Representation, _ isGood: Bool, _ random: inout Random) -> [Delivery] {
        var lines = validatorLines(file.version)
        if sendsLength { lines.append("Content-Length: \(file.bytes.count)") }
        return [.head(head(200, lines, file.node))]
            + body(file.bytes[...], announcesLength: sendsLength, isGood, &random)
    }

    private func rest(
        _ file: Representation, _ requested: (first: Int, last: Int?), omitsFields: Bool, _ isGood: Bool,
        _ random: inout Random
    ) -> [Delivery] {
        var lines = validatorLines(file.version)
        // A response that obeys If-Range may omit Last-Modified. But if the response omits the ETag, a client must not
        // append the body of this response to its file.
        if omitsFields, random.once(in: 4) { lines.removeAll { !$0.hasPrefix("Date") } }
        let size = file.bytes.count
        guard requested.first < size else {
            return [.head(head(416, lines + ["Content-Range: bytes */\(size)"], file.node)), .complete]
        }
        var (first, last) = (requested.first, min(requested.last ?? size - 1, size - 1))
        if !isGood, random.once(in: 8) { last = random.number(first...last) }
        if !isGood, random.once(in: 10) { first = random.number(0...last) }
        let total = !isGood && random.once(in: 10) ? "*" : "\(size)"
        if isGood || !random.once(in: 20) { lines.append("Content-Range: bytes \(first)-\(last)/\(total)") }
        return [.head(head(206, lines, file.node))]
            + body(file.bytes[first...last], announcesLength: true, isGood, &random)
    }

    /// Returns the deliveries of a body. If `announcesLength` is true, the response has announced its length, so a
    /// client can detect missing or additional bytes.
    private func body(
        _ bytes: ArraySlice<UInt8>, announcesLength: Bool, _ isGood: Bool, _ random: inout Random
    ) -> [Delivery] {
        var bytes = Array(bytes)
        var end = Delivery.complete
        if !isGood, random.once(in: 2) {
            bytes.removeLast(random.number(0...bytes.count))
            end = announcesLength && random.once(in: 4) ? .complete : .failed(isTransient: true)
        } else if !isGood, announcesLength, random.once(in: 20) {
            bytes += [7, 7, 7]
        }
        var deliveries: [Delivery] = []
        while !bytes.isEmpty {
            let count = random.number(1...min(bytes.count, 60))
            deliveries.append(.body(Array(bytes.prefix(count))))
            bytes.removeFirst(count)
        }
        return deliveries + [end]
    }

    // MARK: Headers

    private func head(_ status: Int32, _ lines: [String] = [], _ node: Int = 0) -> ResponseHead {
        ModelTests.head(status, lines: lines, url: "https://node\(node).example.org/file")
    }

    private func modified(_ version: Int) -> String { date(minute: version % 60, second: 0) }

    private func date(minute: Int, second: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "Mon, 05 Oct 2026 08:\(two(minute)):\(two(second)) GMT"
    }

    private func validatorLines(_ version: Int) -> [String] {
        switch style {
        case .strongTag: ["ETag: \"v\(version)\""]
        case .date: ["Last-Modified: \(modified(version))", "Date: \(tuesday)"]
        // In these two styles, two successive versions of the file have the same validators.
        case .weakTag: ["ETag: W/\"v\(version / 2)\"", "Last-Modified: \(modified(version / 2))", "Date: \(tuesday)"]
        case .dateOfThisSecond: ["Last-Modified: \(modified(version / 2))", "Date: \(modified(version / 2))"]
        case .nothing: []
        }
    }
}
