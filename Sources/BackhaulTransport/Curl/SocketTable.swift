internal import BackhaulPlatform
internal import CCurl
internal import Glibc

/// The sockets that libcurl opened, as descriptors of ours: forked children do not keep them, and a number that the
/// host has closed and given to a file of its own is not closed a second time.
///
/// Unsafe: libcurl holds a pointer to this until its last connection is closed; `Transport` lives longer than that.
final class SocketTable {
    private var descriptors: [Int32: Descriptor] = [:]

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    func open(_ family: Int32, _ type: Int32, _ networkProtocol: Int32) -> Int32 {
        let number = socket(family, type | Int32(SOCK_CLOEXEC.rawValue), networkProtocol)
        if number >= 0 { descriptors[number] = Descriptor(owning: number) }
        return number
    }

    /// The socket with this local port; the one that was it before is looked at first.
    func find(localPort: UInt16, before: Int32?) -> Int32? {
        if let before, let known = descriptors[before], known.isOurs, Self.localPort(before) == localPort {
            return before
        }
        return descriptors.first { $0.value.isOurs && Self.localPort($0.key) == localPort }?.key
    }

    private static func localPort(_ number: Int32) -> UInt16? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { internet in
                let result = internet.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getsockname(number, $0, &size)
                }
                // The port is at the same place for both families.
                return result == 0 ? UInt16(bigEndian: internet.pointee.sin6_port) : nil
            }
        }
    }

    /// Bytes in its queue that the peer has not taken yet (tcp(7), SIOCOUTQ).
    static func unsent(_ number: Int32) -> Int32? {
        var count: Int32 = 0
        return ioctl(number, UInt(TIOCOUTQ), &count) == 0 ? count : nil
    }

    /// False when the host has closed one of them.
    var areOurs: Bool { descriptors.values.allSatisfy(\.isOurs) }

    func close(_ number: Int32) {
        descriptors[number] = nil
    }
}
