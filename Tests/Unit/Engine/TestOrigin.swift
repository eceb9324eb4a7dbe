import BackhaulPlatform
import Glibc

/// A small HTTP/1.1 server for the engine's tests, by default on loopback. It serves byte arrays with ranges and ETags,
/// takes one request for each connection, and records the requests.
final class TestOrigin: Sendable {
    struct ReceivedRequest: Sendable {
        var path: String
        var range: String?
        var ifRange: String?
        var authorization: String?
    }

    struct Resource: Sendable {
        var bytes: [UInt8]
        var entityTag: String?
        /// The number of bytes of the body after which the connection closes. Only the responses to the first `breaks`
        /// requests end early.
        var breakAfter: Int?
        var breaks = 0
        var status = 200
        /// The required Authorization field. Without this field, the response has status 401, and `challenge` as
        /// WWW-Authenticate.
        var authorization: String?
        var challenge = "Basic realm=\"staff\""
        var ignoresRange = false
        /// The rate of the body, in bytes per second, or nil for no limit.
        var bytesPerSecond: Int?
        /// The Location field of a response with status 302, or nil for no redirect.
        var location: String?
    }

    private struct State {
        var resources: [String: Resource] = [:]
        var requests: [ReceivedRequest] = []
        var isClosed = false
    }

    private let state = Lock(State())
    private let listener: Int32
    let port: UInt16
    private let address: String

    /// An address of this machine that is not loopback, or nil.
    static let address: String? = {
        // No packet is sent: the kernel only selects the source address.
        let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { Glibc.close(socket) }
        var peer = sockaddr_in()
        peer.sin_family = sa_family_t(AF_INET)
        peer.sin_port = in_port_t(9).bigEndian
        peer.sin_addr.s_addr = inet_addr("192.0.2.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = withUnsafeMutablePointer(to: &peer) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(socket, address, size) == 0 && getsockname(socket, address, &size) == 0
            }
        }
        guard isKnown, let text = inet_ntoa(peer.sin_addr) else { return nil }
        return String(cString: text)
    }()

    init(address text: String = "127.0.0.1") throws {
        self.address = text
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(text)
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
        _ = try Thread(name: "origin") { [self] in
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

    func url(_ path: String) -> String { "http://\(address):\(port)\(path)" }

    var requests: [ReceivedRequest] { state.withLock { $0.requests } }

    func requests(_ path: String) -> [ReceivedRequest] { requests.filter { $0.path == path } }

    func serve(_ path: String, _ resource: Resource) { state.change { $0.resources[path] = resource } }

    /// Waits for a request with this path.
    func waitForRequest(_ path: String) -> Bool {
        state.wait(until: .ofTests) { $0.requests.contains { $0.path == path } ? true : nil } ?? false
    }

    private func serve(_ connection: Int32) {
        defer { Glibc.close(connection) }
        guard let head = readHead(connection) else { return }
        let lines = head.split(separator: "\r\n").map(String.init)
        let path = lines.first?.split(separator: " ").dropFirst().first.map(String.init) ?? "/"
        func value(_ name: String) -> String? {
            lines.first { $0.lowercased().hasPrefix(name + ":") }.map {
                String($0.dropFirst(name.count + 1)).trimmingPrefix { $0 == " " }.description
            }
        }
        let request = ReceivedRequest(
            path: path, range: value("range"), ifRange: value("if-range"), authorization: value("authorization"))
        let resource: Resource? = state.change { state in
            state.requests.append(request)
            guard let resource = state.resources[path] else { return nil }
            if resource.breaks > 0 { state.resources[path]?.breaks -= 1 }
            return resource
        }
        guard let resource else {
            send(connection, Array("HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\nnothing".utf8))
            return
        }
        if let wanted = resource.authorization, request.authorization != wanted {
            let field = resource.challenge.isEmpty ? "" : "WWW-Authenticate: \(resource.challenge)\r\n"
            let head = "HTTP/1.1 401 No\r\n\(field)Content-Length: 3\r\nConnection: close\r\n\r\n"
            send(connection, Array((head + "no\n").utf8))
            return
        }
        if let location = resource.location {
            send(connection, Array("HTTP/1.1 302 There\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n".utf8))
            return
        }
        respond(connection, resource, request)
    }

    private func respond(_ connection: Int32, _ resource: Resource, _ request: ReceivedRequest) {
        var start = 0
        if let range = request.range, !resource.ignoresRange, request.ifRange == resource.entityTag {
            start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
        }
        let count = resource.bytes.count
        var head = start > 0 ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 \(resource.status) Status\r\n"
        if start > 0 { head += "Content-Range: bytes \(start)-\(count - 1)/\(count)\r\n" }
        if let tag = resource.entityTag { head += "ETag: \(tag)\r\n" }
        head += "Content-Length: \(count - start)\r\nConnection: close\r\n\r\n"
        send(connection, Array(head.utf8))
        let end = resource.breaks > 0 ? min(count, start + (resource.breakAfter ?? count)) : count
        guard let rate = resource.bytesPerSecond else {
            send(connection, Array(resource.bytes[start..<end]))
            return
        }
        for piece in stride(from: start, to: end, by: max(1, rate / 50)) {
            guard send(connection, Array(resource.bytes[piece..<min(end, piece + max(1, rate / 50))])) else { return }
            usleep(20_000)
        }
    }

    private func readHead(_ connection: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
            let text = String(decoding: bytes, as: UTF8.self)
            if text.contains("\r\n\r\n") { return text }
        }
    }

    @discardableResult
    private func send(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
