internal import CLinux
internal import Glibc

/// Reports changes of this network namespace (rtnetlink(7)), without polling. It does not report what has changed, so
/// its users read the state again.
public final class NetworkChanges: Sendable {
    private let descriptor: Descriptor
    /// A descriptor that is readable when there are changes to take.
    public var number: Int32 { descriptor.number }

    /// Reports changes of links, addresses, routes and rules, or only changes of addresses.
    public init(onlyAddresses: Bool = false) throws(SystemError) {
        let number = bhl_watch_network(onlyAddresses ? 1 : 0)
        guard number >= 0 else { throw SystemError.last("cannot watch the network") }
        descriptor = Descriptor(owning: number)
    }

    /// Reads the changes. Returns true if there were changes, or if the kernel dropped changes.
    public func take() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var hasChanged = false
        while true {
            let count = recv(descriptor.number, &buffer, buffer.count, 0)
            if count > 0 {
                hasChanged = true
            } else if count < 0, bhl_errno() == ENOBUFS {
                hasChanged = true
            } else if !(count < 0 && bhl_errno() == EINTR) {
                return hasChanged
            }
        }
    }
}
