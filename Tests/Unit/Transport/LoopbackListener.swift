import CLinux
import Glibc

/// A socket on loopback that listens on a free port.
struct LoopbackListener {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let port: UInt16

    init() {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = bind(descriptor, pointer, size)
                _ = listen(descriptor, 128)
                _ = getsockname(descriptor, pointer, &size)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
    }
}
