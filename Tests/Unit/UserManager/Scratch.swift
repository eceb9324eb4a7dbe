import Glibc

/// A temporary directory for one test, which `deinit` removes.
final class Scratch {
    let path: String

    init() {
        var template = Array("/tmp/backhaul-manager-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? ""
    }

    func write(_ text: String, to name: String) {
        var directory = path
        for component in name.split(separator: "/").dropLast() {
            directory += "/" + component
            mkdir(directory, 0o700)
        }
        guard let file = fopen(path + "/" + name, "w") else { return }
        fputs(text, file)
        fclose(file)
    }

    deinit { system("rm -rf '\(path)'") }
}

/// A bound socket that never replies. If it is a stream socket, it accepts connections.
final class SilentSocket: Sendable {
    let number: Int32

    /// Binds the socket to `path`. A path whose first byte is zero is an abstract name without a file (unix(7)).
    init(path: String, type: __socket_type) {
        // A program that another test starts must not inherit the descriptor.
        number = socket(AF_UNIX, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                let length = path.hasPrefix("\0") ? 2 + path.utf8.count : MemoryLayout<sockaddr_un>.size
                _ = bind(number, $0, socklen_t(length))
            }
        }
        listen(number, 8)
    }

    /// Returns the next datagram, or nil if there is none.
    func receive() -> String? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Accepts a connection, waits until the peer closes the connection, and returns the bytes that the peer sent.
    func receiveAll() -> String? {
        let connection = accept(number, nil, nil)
        guard connection >= 0 else { return nil }
        defer { close(connection) }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4 << 10)
        while case let count = recv(connection, &buffer, buffer.count, 0), count > 0 { received += buffer[..<count] }
        return String(decoding: received, as: UTF8.self)
    }

    deinit { close(number) }
}
