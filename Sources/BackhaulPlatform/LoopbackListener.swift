internal import CLinux
internal import Glibc

/// A listening TCP socket at a loopback address, which other machines cannot reach. Its streams have the type of Unix
/// sockets: the calls for bytes are the same.
public final class LoopbackListener: Sendable {
    private let descriptor: Descriptor
    public var number: Int32 { descriptor.number }

    /// Listens at 127.0.0.1, or at ::1. Throws EADDRINUSE if a process listens there.
    public init(port: UInt16, isIPv6: Bool) throws(SystemError) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
        guard number >= 0 else { throw SystemError.last("cannot make a socket") }
        descriptor = Descriptor(owning: number, closesOnFork: true)
        // Without this option, the port is taken for a minute after the end of its last server.
        var on: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard Self.bind(number, port, isIPv6: isIPv6) == 0, listen(number, 128) == 0 else {
            throw SystemError.last("cannot listen on port \(port)")
        }
    }

    private static func bind(_ number: Int32, _ port: UInt16, isIPv6: Bool) -> Int32 {
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            return bind(number, &address)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return bind(number, &address)
    }

    // Unsafe: bind takes addresses of all kinds as a pointer to `sockaddr`, their common beginning.
    private static func bind<Address>(_ number: Int32, _ address: inout Address) -> Int32 {
        let size = socklen_t(MemoryLayout<Address>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(number, $0, size) }
        }
    }

    public func accept() -> UnixListener.AcceptResult { UnixListener.accept(descriptor.number) }
}
