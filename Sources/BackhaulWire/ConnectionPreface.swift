internal import BackhaulModel

/// The beginning of the first message that each side of a connection sends. Its form is the same in all protocol
/// versions: four bytes with which no other protocol begins, then the protocol version, then the library version.
struct ConnectionPreface: WireRecord {
    private static let magic: [UInt8] = Array("bhul".utf8)

    var versions = Versions.current

    static var blank: ConnectionPreface { ConnectionPreface() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        for expected in ConnectionPreface.magic {
            var byte = expected
            try coder.field(&byte)
            guard byte == expected else { throw Malformed("it does not begin as it must") }
        }
        try coder.field(&versions.wire)
        try coder.field(&versions.library)
    }

    /// Throws if the peer has another protocol version. In this case the peer's next bytes may have any form, and must
    /// not be read.
    func check() throws(Malformed) {
        guard versions.wire == Wire.version else {
            throw Malformed("it has version \(versions.wire)", peerVersions: versions)
        }
    }
}

/// The form of this message is the same in all protocol versions, like the form of the preface.
extension Welcome: WireRecord {
    static var blank: Welcome { Welcome(versions: .current, isDaemon: false, process: 0) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&versions, as: ConnectionPreface.init, from: \.versions)
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
        try coder.field(&closedClients)
    }
}
