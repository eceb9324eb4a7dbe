import BackhaulPlatform
import CLinux
import Glibc
import Testing

@Suite("Sockets of TCP")
struct TCPSocketTests {
    private func makeSocket(_ family: Int32) -> Descriptor {
        Descriptor(owning: socket(family, Int32(SOCK_STREAM.rawValue), 0))
    }

    /// Calls `body` with the address in the form for system calls.
    private func with<Result>(
        _ address: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
    ) throws -> Result {
        var (hints, found) = (addrinfo(), UnsafeMutablePointer<addrinfo>?.none)
        hints.ai_flags = AI_NUMERICHOST
        try #require(getaddrinfo(address, nil, &hints, &found) == 0)
        defer { freeaddrinfo(found) }
        let entry = try #require(found).pointee
        return try body(try #require(entry.ai_addr), entry.ai_addrlen)
    }

    /// A socket that is bound to an address, although no interface may have this address (IP_FREEBIND, IPV6_FREEBIND).
    private func freeBound(_ address: String) throws -> Descriptor {
        let isVersion6 = address.contains(":")
        let made = makeSocket(isVersion6 ? AF_INET6 : AF_INET)
        var yes: Int32 = 1
        try #require(setsockopt(made.number, isVersion6 ? 41 : 0, isVersion6 ? 78 : 15, &yes, 4) == 0)
        try #require(try with(address) { bind(made.number, $0, $1) } == 0)
        return made
    }

    @Test(
        "a socket has lost its local address if no interface has the address",
        arguments: [
            ("192.0.2.77", true), ("2001:db8::77", true), ("::ffff:192.0.2.77", true), ("127.0.0.1", false),
            ("127.9.9.9", false), ("0.0.0.0", false), ("::", false), ("::ffff:127.0.0.1", false),
        ])
    func address(_ address: String, _ isLost: Bool) throws {
        let bound = try freeBound(address)
        withExtendedLifetime(bound) { #expect(TCPSocket.hasLostAddress(bound.number) == isLost) }
    }

    @Test("a socket without an address of the internet, and a closed one, have not lost it")
    func others() {
        let local = makeSocket(AF_UNIX)
        withExtendedLifetime(local) { #expect(!TCPSocket.hasLostAddress(local.number)) }
        #expect(!TCPSocket.hasLostAddress(-1))
    }

    @Test("after a reset, a connection reports an error, and never an end of the stream")
    func reset() throws {
        let (listener, one) = (makeSocket(AF_INET), makeSocket(AF_INET))
        try #require(listen(listener.number, 1) == 0)
        var name = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                getsockname(listener.number, pointer, &size) + connect(one.number, pointer, size)
            }
        }
        try #require(result == 0)
        let other = Descriptor(owning: accept(listener.number, nil, nil))
        try #require(send(other.number, "ab", 2, 0) == 2)
        TCPSocket.reset(one.number)
        var byte: UInt8 = 0
        #expect(recv(one.number, &byte, 1, 0) == -1 && bhl_errno() == ECONNRESET)
        #expect(recv(one.number, &byte, 1, 0) == -1 && bhl_errno() == ENOTCONN)
        #expect(recv(other.number, &byte, 1, 0) == -1 && bhl_errno() == ECONNRESET)
        withExtendedLifetime(one) { #expect(!TCPSocket.hasLostAddress(one.number)) }
    }
}

@Suite("Changes of the network")
struct NetworkChangesTests {
    @Test("changes are reported once, and the descriptor is closed on exec", arguments: [false, true])
    func changes(onlyAddresses: Bool) throws {
        let changes = try NetworkChanges(onlyAddresses: onlyAddresses)
        #expect(fcntl(changes.number, F_GETFD) & FD_CLOEXEC != 0)
        while changes.take() {}
    }
}
