internal import BackhaulModel

extension Progress: WireElement {
    static var minimumSize: Int { 27 }
    func encode(into encoder: inout Encoder) {
        encoder.put(task)
        encoder.put(code: state)
        encoder.put(code: reason)
        encoder.put(offset)
        encoder.put(size)
        encoder.put(bytesPerSecond)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            task: try decoder.value(), state: try decoder.code(), reason: try decoder.code(),
            offset: try decoder.integer(), size: try decoder.optional(), bytesPerSecond: try decoder.integer())
    }
}
