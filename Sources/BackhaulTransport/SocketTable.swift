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

    /// False when the host has closed one of them.
    var areOurs: Bool { descriptors.values.allSatisfy(\.isOurs) }

    func close(_ number: Int32) {
        descriptors[number] = nil
    }
}
