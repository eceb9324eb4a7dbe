internal import BackhaulModel

/// How the first message of each side begins, in all versions: four bytes that no other protocol begins with, and the
/// version of everything that follows.
enum Opening {
    static let magic: [UInt8] = Array("bhul".utf8)

    static func put(into encoder: inout Encoder) {
        for byte in magic { encoder.tag(byte) }
        encoder.put(Wire.version)
    }

    static func check(_ decoder: inout Decoder) throws(Malformed) {
        for expected in magic {
            guard try decoder.byte() == expected else { throw Malformed("it does not begin as it must") }
        }
        let version: UInt16 = try decoder.integer()
        // Nothing behind the version is looked at: another version may have put anything there.
        guard version == Wire.version else { throw Malformed("it has version \(version)", otherVersion: version) }
    }
}

extension Hello: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(client)
        encoder.put(application)
        encoder.put(process)
        encoder.put(isObserver)
        encoder.put(launch)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            client: try decoder.value(), application: try decoder.string(), process: try decoder.integer(),
            isObserver: try decoder.bool(), launch: try decoder.optional())
    }
}
