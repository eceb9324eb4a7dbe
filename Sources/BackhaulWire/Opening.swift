internal import BackhaulModel

/// How the first message of each side begins, in all versions: four bytes that no other protocol begins with, the
/// version of everything that follows, and that of the library.
enum Opening {
    static let magic: [UInt8] = Array("bhul".utf8)

    static func put(_ versions: Versions = .current, into encoder: inout Encoder) {
        for byte in magic { encoder.tag(byte) }
        encoder.put(versions.wire)
        encoder.put(versions.library)
    }

    static func read(_ decoder: inout Decoder) throws(Malformed) -> Versions {
        for expected in magic {
            guard try decoder.byte() == expected else { throw Malformed("it does not begin as it must") }
        }
        return Versions(wire: try decoder.integer(), library: try decoder.integer())
    }

    static func check(_ decoder: inout Decoder) throws(Malformed) {
        let versions = try read(&decoder)
        // Nothing behind the versions is looked at: another version may have put anything there.
        guard versions.wire == Wire.version else {
            throw Malformed("it has version \(versions.wire)", otherVersions: versions)
        }
    }
}

/// As the opening, the same in all versions.
extension Welcome: WireValue {
    func encode(into encoder: inout Encoder) {
        Opening.put(versions, into: &encoder)
        encoder.put(isDaemon)
        encoder.put(process)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            versions: try Opening.read(&decoder), isDaemon: try decoder.bool(), process: try decoder.integer())
    }
}

extension Hello: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(client)
        encoder.put(application)
        encoder.put(process)
        encoder.put(isObserver)
        encoder.put(launch)
        encoder.put(departed)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            client: try decoder.value(), application: try decoder.string(), process: try decoder.integer(),
            isObserver: try decoder.bool(), launch: try decoder.optional(), departed: try decoder.list())
    }
}
