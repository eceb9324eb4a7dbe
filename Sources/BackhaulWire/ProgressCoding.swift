internal import BackhaulModel

extension Progress: WireElement {
    static var minimumSize: Int { 43 }
    func encode(into encoder: inout Encoder) {
        encoder.put(task)
        encoder.put(code: state)
        encoder.put(code: reason)
        encoder.put(offset)
        encoder.put(size)
        encoder.put(bytesPerSecond)
        encoder.put(bodySent)
        encoder.put(bodySize)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            task: try decoder.value(), state: try decoder.code(), reason: try decoder.code(),
            offset: try decoder.integer(), size: try decoder.optional(), bytesPerSecond: try decoder.integer(),
            bodySent: try decoder.integer(), bodySize: try decoder.integer())
    }
}
