import BackhaulPlatform
import CLinux
import Glibc

/// A server on loopback that responds to a request for `/NUMBER` with the reply of that number, and then ends the
/// connection. One thread serves one connection after the other.
final class ReplyServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let thread: Thread
    private let replies: Lock<[Int: [UInt8]]>

    init() throws {
        let socket = LoopbackListener()
        let listener = socket.descriptor
        (port, self.listener) = (socket.port, listener)
        let replies = Lock<[Int: [UInt8]]>([:])
        self.replies = replies
        thread = try Thread(name: "reply server") {
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                Self.serve(connection, replies)
                Glibc.close(connection)
            }
        }
    }

    /// Replaces the replies.
    func serve(_ bytes: [Int: [UInt8]]) { replies.change { $0 = bytes } }

    func url(_ number: Int) -> String { "http://127.0.0.1:\(port)/\(number)" }

    /// Returns the number in the URL or path of a reply.
    static func number(in path: some StringProtocol) -> Int? { path.split(separator: "/").last.flatMap { Int($0) } }

    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        Glibc.close(listener)
    }

    private static func serve(_ connection: Int32, _ replies: Lock<[Int: [UInt8]]>) {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            request += buffer.prefix(count)
        }
        let path = String(decoding: request.split(separator: 0x20, maxSplits: 2)[1], as: UTF8.self)
        guard let reply = number(in: path).flatMap({ number in replies.withLock { $0[number] } }) else { return }
        _ = send(connection, reply, reply.count, Int32(MSG_NOSIGNAL))
    }
}
