import BackhaulModel
import BackhaulPlatform
import BackhaulWire
import Glibc
import Testing

/// A connection to the engine's socket. A test can send any bytes over this connection at any time.
final class Peer {
    private let number: Int32
    private var reader = FrameReader()

    init(_ store: String) throws {
        number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: (store + "/engine.socket").utf8) }
        let (number, size) = (number, socklen_t(MemoryLayout<sockaddr_un>.size))
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(number, $0, size) == 0 }
        }
        guard isConnected else { throw SystemError.last("cannot connect") }
    }

    deinit { close(number) }

    /// Sends the bytes, and returns the number of sent bytes. Stops at an error. If `waits` is false, a full socket
    /// also stops the call.
    func send(_ bytes: [UInt8], waits: Bool = true) -> Int {
        var sent = 0
        while sent < bytes.count {
            let flags = Int32(MSG_NOSIGNAL) | (waits ? 0 : Int32(MSG_DONTWAIT))
            let count = bytes.withUnsafeBytes {
                Glibc.send(number, $0.baseAddress.map { $0 + sent }, bytes.count - sent, flags)
            }
            guard count > 0 else { break }
            sent += count
        }
        return sent
    }

    func send(_ message: ClientMessage) throws { _ = send(try Wire.encode(message)) }

    func sendHello(_ application: String = "org.example.peer", client: ClientID = .random()) throws {
        let hello = Hello(client: client, application: application, process: getpid())
        try send(.hello(hello))
        guard case .welcome = try next() else { throw Unexpected() }
    }

    /// Returns the next message, or nil at the end of the connection.
    func next() throws -> EngineMessage? {
        while true {
            if let message = try reader.nextEngineMessage() { return message }
            var item = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            guard poll(&item, 1, 20_000) == 1 else { throw Unexpected() }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(number, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            reader.append(buffer[..<count])
        }
    }

    /// The number of bytes that have arrived and are unread, at most 64 KiB.
    var waitingBytes: Int {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        return max(0, recv(number, &buffer, buffer.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)))
    }

    /// Waits until the engine closes the connection, and ignores all earlier messages.
    func isEnded() throws -> Bool {
        while try next() != nil {}
        return true
    }
}

extension ClientID {
    static func random() -> ClientID {
        ClientID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }
}
