internal import BackhaulPlatform
internal import CCurl
internal import Glibc

/// The sockets that libcurl has opened.
///
/// Unsafe: libcurl has a pointer to this object until the last connection is closed. A `CurlStack` owns this object
/// through its `EasyHandlePool`. The stack closes all connections before this object is freed.
final class SocketTable {
    private var sockets: [Int32: ConnectionSocket] = [:]
    /// The sockets that have carried a request, by their ports.
    private var connected: [PortPair: [ConnectionSocket]] = [:]
    /// The other sockets. They are connecting, they are in the TLS handshake, or libcurl has closed them unreported.
    private var unconnected: [Int32: ConnectionSocket] = [:]

    /// Called when a new socket has the number of a socket whose end libcurl has not reported.
    var replaced: (Int32) -> Void = { _ in }

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    func open(_ family: Int32, _ type: Int32, _ networkProtocol: Int32) -> Int32 {
        let number = socket(family, type | Int32(SOCK_CLOEXEC.rawValue), networkProtocol)
        guard number >= 0 else { return number }
        let isReplaced = forgetUnreportedClose(number)
        let socket = ConnectionSocket(number)
        sockets[number] = socket
        unconnected[number] = socket
        if isReplaced { replaced(number) }
        return number
    }

    /// Returns the socket of the connection on which libcurl will now send a request.
    func find(_ endpoints: ConnectionEndpoints) -> ConnectionSocket? {
        let known = connected[endpoints.ports]?.first { $0.endpoints == endpoints }
        if let known { return known }
        for (number, socket) in unconnected where ConnectionEndpoints(ofSocket: number) == endpoints {
            socket.endpoints = endpoints
            unconnected[number] = nil
            connected[endpoints.ports, default: []].append(socket)
            return socket
        }
        return nil
    }

    var hasConnections: Bool { !connected.isEmpty }

    /// Returns whether servers have ended connections that no request uses now, and prepares libcurl's own check.
    func findEndedConnections() -> Bool {
        let ended = connected.values.joined().filter { $0.users == 0 && $0.hasEnded }
        for socket in ended { socket.discardCloseNotify() }
        return !ended.isEmpty
    }

    /// Resets the sockets whose local addresses were removed from this machine, also those that are connecting. libcurl
    /// then gets an error.
    func resetLostConnections() {
        for socket in sockets.values where socket.isOpen && TCPSocket.hasLostAddress(socket.number) { socket.reset() }
    }

    func close(_ number: Int32) {
        forget(number)
        Glibc.close(number)
    }

    func contains(_ number: Int32) -> Bool { sockets[number] != nil }

    func forget(_ number: Int32) {
        guard let socket = sockets.removeValue(forKey: number) else { return }
        socket.receivedAtEnd = socket.received
        socket.isClosed = true
        unconnected[number] = nil
        guard let ports = socket.endpoints?.ports else { return }
        connected[ports]?.removeAll { $0 === socket }
        if connected[ports]?.isEmpty == true { connected[ports] = nil }
    }
}

/// A connection's socket.
final class ConnectionSocket {
    let number: Int32
    private let file: FileIdentity?
    fileprivate(set) var endpoints: ConnectionEndpoints?
    /// Whether a response over HTTP/2 has arrived on the connection. Frames may then arrive at any time.
    var isMultiplexed = false
    /// Whether libcurl has closed the socket.
    fileprivate(set) var isClosed = false
    /// The number of requests that use the socket.
    var users = 0
    fileprivate var receivedAtEnd: Int64?

    fileprivate init(_ number: Int32) {
        self.number = number
        file = FileIdentity(of: number)
    }

    /// Whether the number is still this socket's. libcurl may have closed the socket unreported, and another file may
    /// have its number.
    fileprivate var isOpen: Bool { !isClosed && FileIdentity(of: number) == file }

    fileprivate func reset() {
        // The kernel forgets this number with the connection.
        receivedAtEnd = received
        TCPSocket.reset(number)
    }

    fileprivate var hasEnded: Bool {
        var poll = pollfd(fd: number, events: Int16(bhl_poll_read_end), revents: 0)
        return Glibc.poll(&poll, 1, 0) == 1
    }

    /// The number of bytes that the kernel has received over the socket, or nil if it is not known.
    var received: Int64? {
        if isClosed || receivedAtEnd != nil { return receivedAtEnd }
        let count = bhl_received_bytes(number)
        return count < 0 ? nil : count
    }

    /// The number of bytes in the send queue (tcp(7), SIOCOUTQ). The remote system has not acknowledged these bytes
    /// yet.
    var unsent: Int32? {
        var count: Int32 = 0
        return !isClosed && ioctl(number, UInt(TIOCOUTQ), &count) == 0 ? count : nil
    }
}

/// The local and the remote port of a connection.
struct PortPair: Hashable {
    var local: UInt16
    var remote: UInt16
}

/// The addresses and ports of both ends of a connection. Addresses are texts as made by inet_ntop(3).
struct ConnectionEndpoints: Equatable {
    var ports: PortPair
    var local: String
    var remote: String

    init(ports: PortPair, local: String, remote: String) {
        self.ports = ports
        self.local = local
        self.remote = remote
    }

    /// Returns nil if the socket is not connected.
    init?(ofSocket number: Int32) {
        guard let remote = Self.address({ getpeername(number, $0, $1) }),
            let local = Self.address({ getsockname(number, $0, $1) })
        else { return nil }
        self.init(
            ports: PortPair(local: local.port, remote: remote.port), local: local.text, remote: remote.text)
    }

    /// Returns the address as text. libcurl's struct has more bytes than the declared `addr` if the address is long.
    static func text(_ address: UnsafePointer<curl_sockaddr>) -> String? {
        Self.address { storage, size in
            guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return -1 }
            let count = min(Int(address.pointee.addrlen), Int(size.pointee))
            memcpy(storage, UnsafeRawPointer(address) + offset, count)
            return 0
        }?.text
    }

    private static func address(
        _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> (text: String, port: UInt16)? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            guard pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, { ask($0, &size) }) == 0 else { return nil }
            let family = Int32(pointer.pointee.ss_family)
            return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { internet in
                // The port has the same offset for both families.
                let port = UInt16(bigEndian: internet.pointee.sin6_port)
                guard family == AF_INET6 else {
                    return internet.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                        text(family, &$0.pointee.sin_addr).map { ($0, port) }
                    }
                }
                return text(family, &internet.pointee.sin6_addr).map { ($0, port) }
            }
        }
    }

    private static func text(_ family: Int32, _ address: UnsafeRawPointer) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { room in
            inet_ntop(family, address, room.baseAddress, socklen_t(room.count)).map { String(cString: $0) }
        }
    }
}
