internal import BackhaulModel

/// How the first message of each side begins, in all versions: four bytes that no other protocol begins with, the
/// version of everything that follows, and that of the library.
struct Opening: WireRecord {
    private static let magic: [UInt8] = Array("bhul".utf8)

    var versions = Versions.current

    static var blank: Opening { Opening() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        for expected in Opening.magic {
            var byte = expected
            try coder.field(&byte)
            guard byte == expected else { throw Malformed("it does not begin as it must") }
        }
        try coder.field(&versions.wire)
        try coder.field(&versions.library)
    }

    /// Another version may have put anything behind its opening, so a reader stops there.
    func check() throws(Malformed) {
        guard versions.wire == Wire.version else {
            throw Malformed("it has version \(versions.wire)", otherVersions: versions)
        }
    }
}

/// As the opening, the same in all versions.
extension Welcome: WireRecord {
    static var blank: Welcome { Welcome(versions: .current, isDaemon: false, process: 0) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&versions, as: Opening.init, from: \.versions)
        try coder.field(&isDaemon)
        try coder.field(&process)
    }
}

extension Hello: WireRecord {
    static var blank: Hello { Hello(client: .blank, application: "", process: 0) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&client)
        try coder.field(&application)
        try coder.field(&process)
        try coder.field(&isObserver)
        try coder.field(&launch)
        try coder.field(&departed)
    }
}
