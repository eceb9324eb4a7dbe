internal import BackhaulModel

extension HeaderField: WireElement {
    static var minimumSize: Int { 8 }
    func encode(into encoder: inout Encoder) {
        encoder.put(name)
        encoder.put(value)
    }
    init(from decoder: inout Decoder) throws(Malformed) { self.init(try decoder.string(), try decoder.string()) }
}

extension Destination: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(path)
        encoder.put(directoryDevice)
        encoder.put(directoryInode)
        encoder.put(isOccupied)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            path: try decoder.string(), directoryDevice: try decoder.integer(), directoryInode: try decoder.integer(),
            isOccupied: try decoder.bool())
    }
}

extension Request: WireElement {
    static var minimumSize: Int { 22 }
    func encode(into encoder: inout Encoder) {
        encoder.put(url)
        encoder.put(destination)
        encoder.put(idempotencyKey)
        encoder.put(headers)
        encoder.put(userData.map(WireData.init))
        encoder.put(code: ifExists)
        encoder.put(priority)
        encoder.put(startsSuspended)
        encoder.put(mode)
        encoder.put(hasOptions ? options : nil)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(url: try decoder.string())
        destination = try decoder.optional()
        idempotencyKey = try decoder.optional()
        headers = try decoder.list()
        userData = try decoder.optional(WireData.self)?.bytes
        ifExists = try decoder.code()
        priority = try decoder.integer()
        startsSuspended = try decoder.bool()
        mode = try decoder.integer()
        if let given: RequestOptions = try decoder.optional() { options = given }
    }
}

extension Enqueued: WireElement {
    static var minimumSize: Int { 9 }
    func encode(into encoder: inout Encoder) {
        encoder.put(task)
        encoder.put(code: disposition)
        guard disposition == .existing else { return }
        encoder.put(code: state ?? .waiting)
        encoder.put(end)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(task: try decoder.value(), disposition: try decoder.code())
        guard disposition == .existing else { return }
        state = try decoder.code()
        end = try decoder.value()
    }
}
