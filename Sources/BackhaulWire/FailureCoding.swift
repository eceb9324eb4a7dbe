internal import BackhaulModel

// Part of `goodbye`, which engines of all versions say in the same form: this layout never changes.
extension Failure: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(code: status)
        encoder.put(code: domain)
        encoder.put(detail)
        encoder.put(message)
        encoder.put(index)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        // A newer engine may know more codes; its sentence still helps.
        let status = Status(rawValue: Int32(try decoder.byte())) ?? .internal
        let domain = FailureDomain(rawValue: Int32(try decoder.byte())) ?? .none
        let detail: Int64 = try decoder.integer()
        self.init(status, try decoder.string(), domain: domain, detail: detail, index: try decoder.optional())
    }
}
