import BackhaulPlatform
import Glibc

/// A small HTTP/1.1 server on loopback that takes request bodies. It takes one request for each connection, sends the
/// responses that the test has set, and records the requests.
final class UploadOrigin: Sendable {
    struct Received: Sendable {
        var method: String
        var path: String
        var head: String
        var body: [UInt8]

        func value(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ":") }.map {
                String($0.dropFirst(name.count + 1)).trimmingPrefix { $0 == " " }.description
            }
        }
    }

    /// The response to one request.
    struct Response: Sendable {
        var status = 201
        var fields = ""
        var body: [UInt8] = []
        /// Whether the response is sent before the body is read.
        var isEarly = false
        /// The number of bytes of the request's body after which the connection closes without a response, or nil for
        /// no limit.
        var breakAfter: Int?
        /// A function that the connection's thread calls before it reads the body.
        var meanwhile: (@Sendable () -> Void)?
        var ignoresExpect = false
    }

    private struct State {
        var scripts: [String: [Response]] = [:]
        var received: [Received] = []
        var isClosed = false
    }

    private let state = Lock(State())
    private let listener: Int32
    let port: UInt16

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = listener
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(number, address, size) == 0 && listen(number, 128) == 0
                    && getsockname(number, address, &size) == 0
            }
        }
        guard bound else { throw SystemError.last("cannot listen") }
        port = UInt16(bigEndian: address.sin_port)
        _ = try Thread(name: "uploads") { [self] in
            while true {
                let connection = accept(number, nil, nil)
                guard connection >= 0, !state.withLock({ $0.isClosed }) else { return }
                guard (try? Thread(name: "connection") { [self] in serve(connection) }) != nil else { return }
            }
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Sets the responses for one path, in order. After the last of these responses, the server sends the default
    /// response.
    func script(_ path: String, _ responses: [Response]) { state.change { $0.scripts[path] = responses } }

    var received: [Received] { state.withLock { $0.received } }

    func waitUntilReceived(_ path: String) -> Bool {
        state.wait(until: .ofTests) { state in
            state.received.contains { $0.path == path } ? true : nil
        } ?? false
    }

    private func serve(_ connection: Int32) {
        defer { Glibc.close(connection) }
        var bytes: [UInt8] = []
        guard let end = readHead(connection, &bytes) else { return }
        let head = String(decoding: bytes[..<end], as: UTF8.self)
        let words = head.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count == 3 else { return }
        var received = Received(method: words[0], path: words[1], head: head, body: Array(bytes[end...]))
        let response = state.change { state -> Response in
            guard state.scripts[received.path]?.isEmpty == false else { return Response() }
            return state.scripts[received.path]?.removeFirst() ?? Response()
        }
        response.meanwhile?()
        let length = received.value("content-length").flatMap { Int($0) } ?? 0
        if !response.isEarly {
            if received.value("expect") != nil, !response.ignoresExpect {
                send(connection, Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            }
            let wanted = min(length, response.breakAfter ?? length)
            read(connection, &received.body, upTo: wanted)
        }
        let entry = received
        state.change { $0.received.append(entry) }
        if response.breakAfter != nil { return }
        let first = "HTTP/1.1 \(response.status) Answer\r\n\(response.fields)"
        send(connection, Array("\(first)Content-Length: \(response.body.count)\r\nConnection: close\r\n\r\n".utf8))
        send(connection, response.body)
        if response.isEarly { read(connection, &received.body, upTo: length) }
    }

    private func readHead(_ connection: Int32, _ bytes: inout [UInt8]) -> Int? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            if bytes.count >= 4 {
                for index in 0...(bytes.count - 4) where Array(bytes[index..<index + 4]) == [13, 10, 13, 10] {
                    return index + 4
                }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private func read(_ connection: Int32, _ body: inout [UInt8], upTo length: Int) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while body.count < length {
            let count = recv(connection, &buffer, min(buffer.count, length - body.count), 0)
            guard count > 0 else { return }
            body += buffer[..<count]
        }
    }

    private func send(_ connection: Int32, _ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }
}
