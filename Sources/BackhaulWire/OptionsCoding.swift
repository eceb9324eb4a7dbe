internal import BackhaulModel

extension RequestOptions: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(method)
        encoder.put(group)
        encoder.put(checksum?.text)
        encoder.put(expectedSize)
        encoder.put(body)
        encoder.put(code: refresh)
        encoder.put(expiresMilliseconds)
        encoder.put(isOnlyIfChanged)
        encoder.put(isNamedByServer)
        encoder.put(ignoresDigests)
        encoder.put(earliestStartMilliseconds)
        encoder.put(latestStartMilliseconds)
        encoder.put(expectedBytesReceived)
        encoder.put(expectedBytesSent)
        encoder.put(policy)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init()
        method = try decoder.optional()
        group = try decoder.optional()
        checksum = try decoder.checksum()
        expectedSize = try decoder.optional()
        body = try decoder.optional()
        refresh = try decoder.code()
        expiresMilliseconds = try decoder.optional()
        isOnlyIfChanged = try decoder.bool()
        isNamedByServer = try decoder.bool()
        ignoresDigests = try decoder.bool()
        earliestStartMilliseconds = try decoder.optional()
        latestStartMilliseconds = try decoder.optional()
        expectedBytesReceived = try decoder.optional()
        expectedBytesSent = try decoder.optional()
        policy = try decoder.value()
    }
}

extension Decoder {
    mutating func checksum() throws(Malformed) -> Checksum? {
        guard let text: String = try optional() else { return nil }
        guard let checksum = Checksum(text) else { throw Malformed("it has a checksum that is none") }
        return checksum
    }

    mutating func requiredStatuses() throws(Malformed) -> StatusList {
        guard let list = StatusList(try string()) else { throw Malformed("it has a list of statuses that is none") }
        return list
    }

    mutating func statuses() throws(Malformed) -> StatusList? {
        guard let text: String = try optional() else { return nil }
        guard let list = StatusList(text) else { throw Malformed("it has a list of statuses that is none") }
        return list
    }
}

extension BodyFile: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(path)
        encoder.put(device)
        encoder.put(inode)
        encoder.put(size)
        encoder.put(modifiedNanoseconds)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            path: try decoder.string(), device: try decoder.integer(), inode: try decoder.integer(),
            size: try decoder.integer(), modifiedNanoseconds: try decoder.integer())
    }
}

extension FormPart: WireElement {
    static var minimumSize: Int { 11 }
    func encode(into encoder: inout Encoder) {
        encoder.put(name)
        switch content {
        case .file(let file):
            encoder.tag(1)
            encoder.put(file)
        case .value(let bytes):
            encoder.tag(2)
            encoder.put(bytes)
        }
        encoder.put(fileName)
        encoder.put(mediaType)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        let name = try decoder.string()
        let content: Content =
            switch try decoder.byte() {
            case 1: .file(try decoder.value())
            case 2: .value(try decoder.data())
            case let tag: throw Malformed("it has the unknown content of a part \(tag)")
            }
        self.init(name: name, content: content, fileName: try decoder.optional(), mediaType: try decoder.optional())
    }
}

extension RequestBody: WireValue {
    func encode(into encoder: inout Encoder) {
        switch self {
        case .file(let file, let source):
            encoder.tag(1)
            encoder.put(file)
            encoder.put(code: source)
        case .bytes(let bytes):
            encoder.tag(2)
            encoder.put(bytes)
        case .form(let parts, let source):
            encoder.tag(3)
            encoder.put(parts)
            encoder.put(code: source)
        }
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        switch try decoder.byte() {
        case 1: self = .file(try decoder.value(), try decoder.code())
        case 2: self = .bytes(try decoder.data())
        case 3: self = .form(try decoder.list(), try decoder.code())
        case let tag: throw Malformed("it has the unknown form of body \(tag)")
        }
    }
}
